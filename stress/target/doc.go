// Package target starts, watches and ends the servers under load: the built
// executable of the hub, each time on a store of its own, and the ceiling. What
// it starts it ends, by process id, whatever way the caller leaves.
//
// A Process belongs to one goroutine, except Kill and what reads it. The package
// opens no store and speaks no more of the wire than asking whether a server is
// ready.
package target
