// Package actors runs the owners of the hub's state, the sequencer that orders
// what they decide, and the views that show what is durable. Hub is its door: it
// implements the services of package hub.
//
// How a write goes, each step named by the file it stands in: a service method
// checks what it can and sends a command to the owner (service_*.go, submit.go);
// the owner decides in its turn (owner.go, package core); the sequencer gives
// the record its numbers (sequencer.go); the owner applies its facts; the writer
// makes whatever is pending durable as one group (writer.go), lets the views show
// it (package view), answers, and wakes the calls that wait for it.
//
// Invariants, as the tests name them: an answer leaves only when all it rests on
// is durable; records become durable, visible and acknowledged in the order of
// their numbers; no owner waits for another; a view never decides. All exported
// methods may be called from any goroutine. The package never touches the
// network, and it reads and writes the store only through Journal and Rows.
package actors
