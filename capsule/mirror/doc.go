// Package mirror decides what a mirror of a project in a Git work tree changes. A ledger in
// the folder of the mirror holds the hash of each file that was written. A file is the
// mirror's own if its hash is in the ledger: such a file may be replaced or removed. All
// other files belong to somebody else and stay as they are.
//
// The package is pure: the caller says what it finds, and carries out the steps. It never
// speaks of Git, which sees new and changed files and nothing else.
package mirror
