// Package badgerfile reads the files of Badger without Badger: it finds damage that the library would not tell of, says what a
// damaged database still holds, and takes out of the way what would keep a database from opening.
//
// Nobody else may have the database open for writing meanwhile. A reader belongs to one goroutine. The package never changes
// a row.
package badgerfile
