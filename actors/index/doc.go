// Package index feeds the search index with what has been committed: messages,
// decisions, artifacts and memories. It decides what text of a row is found.
//
// One goroutine, Serve, feeds the index. All other methods may be called from any
// goroutine, also on a nil Indexer, which stands for a hub that does not search. Shown
// never waits.
//
// The package never submits a command, and it never delays a commit: what is not yet in
// the index waits in the ring or in the store.
package index
