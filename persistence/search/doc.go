// Package search is the full-text index of a hub: it satisfies core.Index with
// the index engine of bleve, scorch.
//
// The index is derived. It lies in one folder of the store, may be deleted at any
// time while no hub runs, and is made anew when it is missing, of another
// version, or damaged. It holds words, ids and what selects a row, never a text:
// whoever shows a hit reads the row. Position and documents are changed by one
// batch, so that a crash leaves both or neither; nothing is synced on the hub's
// way, because what is lost is put again.
//
// bleve stores postings and merges them. What a word is (words.go), what a query
// means (query.go) and what is best (find.go) is decided here: one tokenizer
// serves documents, queries and excerpts, and no query syntax of bleve is
// reachable.
//
// An Index may be asked by any number of goroutines while one puts. The package
// decides nothing about who may see what beyond the parties it is given, and it
// never touches a file outside its folder.
package search
