// Package machine has the commands for the hub of this machine and its store: to start, stop and reset it, its
// service, backups and salvage, the doctor, logs, the demo, and the relay for sandboxes.
//
// It never opens a store: what the daemon is made of, and what reads a store, is handed in by term.Env.
package machine
