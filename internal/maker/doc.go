// Package maker knows the secret of a data root, and marks with it what a hub of this
// user has made: stores, spools, backups. A mark says "made here" of a thing that lies
// where others may put things, too, such as a folder of a repository.
//
// The functions may be called from any goroutine and any process. The package sends and
// logs nothing, and it deletes nothing.
package maker
