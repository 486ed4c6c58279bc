// Package daemon has what the command line needs for a hub that runs in the
// background. It starts the process and waits until the hub answers, or stops it and
// waits until it is gone. It looks at an address and at the holder of a store,
// resolves the data root, and keeps the log that lies in the store. It asks the
// operating system what only that knows.
//
// A Machine, a Child and a Log are safe for concurrent use. Any number of processes
// may call Start at once: one of them starts the hub, and all return it. Each Probe
// uses a connection of its own.
//
// The package knows no command and no flag, and makes no sentence of a failure: it
// returns errors of its own, which the commands turn into what people read. It never
// opens a store.
package daemon
