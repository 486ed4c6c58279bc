// Package actors wires a running hub together, and implements the services of package
// hub: one file for each resource (service_*.go). Hub is its door.
//
// The parts stand below it. Package core decides and applies. Package engine
// runs the owners (the actors) and orders their decisions. Package view shows
// what is durable, and package lists answers the reads that have pages. Package
// leases grants leases, package seats says which agents work in a room, package
// watch waits until conditions hold, package spawns manages processes, and
// package index feeds the search. Hub embeds lists and leases.
//
// No name leads from the engine to a view or back: start.go hands the view to the engine
// as engine.Views, and has seats, spawns and the index subscribe to committed records.
//
// How a write goes: a service method checks what it can and submits a command to an
// owner; the owner decides; the record is numbered, applied, committed with all that is
// pending, shown, answered; then the calls that wait for it are woken. kinds.go is the
// table of the owner kinds; load.go makes their states from stored rows.
//
// All exported methods may be called from any goroutine. The package never touches the
// network, and it reads and writes the store only through core.Journal and core.Rows.
package actors
