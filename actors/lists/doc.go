// Package lists answers the reads of the service that have pages: one file for each
// resource, with the read of a single row beside its list. cursor.go says where a page begins,
// and page.go where it ends. A page shows committed rows only, from the views or the store.
//
// All methods may be called from any goroutine, and none waits for an owner. A walk
// through all pages shows every row once that is there all the time. The package never
// decides or writes.
package lists
