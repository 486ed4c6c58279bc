// Package folders examines folders of this machine for the hub. It finds the
// real path of a folder, the folders above it and its git work tree. So the hub
// finds the room of a bound folder from any folder below it and from every
// linked work tree.
//
// It only reads. The only files it reads are .git, commondir and HEAD, whose
// content it does not trust. It never runs git. A Folders may be used from any
// goroutine; each query has a deadline, and only a few may hang at a time.
package folders
