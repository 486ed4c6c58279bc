// Package storedir is the folder of a store: its marker, its lock, its secrets and the mark of its head, and the errors by which a
// start is refused. The names of the files are part of the store's format (docs/formats.md).
//
// A lock and a head belong to the one process that has the store open; all else may be called by any goroutine. The package
// never opens the database.
package storedir
