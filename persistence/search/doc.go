// Package search is the full-text index of a hub: it satisfies core.Index with
// the index engine of bleve, scorch.
//
// The index is derived. It lies in one folder of the store, may be deleted at
// any time while no hub runs, and is made anew when it is missing, of another
// version, or damaged. It holds words, ids and the fields that filters use,
// never a text: the caller reads the row of a hit. One batch changes position
// and documents, so that a crash leaves both or neither. Nothing is synced
// while the hub waits, because a lost document is indexed again.
//
// bleve stores postings and merges them. This package splits texts into words
// (words.go), reads queries (query.go), finds other forms of words (widen.go)
// and ranks hits (find.go). One tokenizer serves documents, queries and
// excerpts, and callers cannot reach bleve's query syntax. The index holds the
// words as they are written: other forms are looked up in its dictionary when a
// query needs them.
//
// bleve's own searchers were measured in place of the cursors (cursor.go) and
// rejected: over 100,000 messages two common words took 1.8 times as long, and a
// phrase took 6 times as long.
//
// Any number of goroutines may search an Index while one adds documents. Beyond
// the parties that it is given, the package decides nothing about the
// visibility of rows. It never touches a file outside its folder.
package search
