// Package readable turns a capsule into files that people read: a README, a page for each
// room, a file for each decision, the artifacts, and the lines of the capsule for programs.
//
// The same capsule gives the same bytes. Texts of agents are data: they are escaped, so that
// they cannot make a heading, a link or HTML, and the names of files hold nothing of them
// that Linux, macOS or Windows gives a meaning. What privacy leaves out or replaces was left
// out and replaced when the capsule was written; the package decides nothing about that.
//
// The package opens no file and reads no clock. Its functions are safe for concurrent use; a
// rendering is one goroutine's. Memory grows with the rooms and the artifacts (about 500 bytes
// each), and not with the messages.
package readable
