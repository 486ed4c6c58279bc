// Package capsule writes and reads project capsules: files that hold one project, with the
// extension .hubpack. docs/capsule.md draws the format.
//
// A capsule is a zip archive. It names everything by ids of its own, so that the same
// project gives the same content, whichever hub it comes from: messages and tasks share one
// numbering from 1, in the order of their ids, and other things have a letter and a number,
// such as r1 for the first room. A text refers to them as ref.go says.
//
// A Writer and a Reader are used by one goroutine at a time. Both stream: their memory does
// not grow with the capsule. A Reader believes nothing: whatever it hands out has passed its
// checks. The package opens no file, reads no clock, and knows no hub.
package capsule
