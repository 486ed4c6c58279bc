// Package folders looks at the folders of this machine for the hub: what a
// path really is, which folders lie above it, and which git work tree it is in,
// so that a room that is bound to a folder is found from below it and from every
// linked work tree.
//
// It only reads, and of files only .git, commondir and HEAD, of which it believes
// little: they may be anything. It never runs git. A Folders may be used from any
// goroutine; each question has a deadline, and only a few may hang at a time.
package folders
