// Package transfer plans exports of projects and puts their files in place.
//
// A plan is a capsule that is already written, in a folder of the store where nobody sees
// it. So the plan can say exactly what the file holds, and what is confirmed is what was
// shown. To confirm it copies the file to its target, under another name first, and never
// over a file that is there. Plans end by themselves after a while, with a stop of the hub,
// and with Close; their files are deleted then, and at the next start if a crash left them.
//
// The methods of Exports may be called by any goroutine. An export under way has one
// goroutine of its own. The package decides nothing about projects.
package transfer
