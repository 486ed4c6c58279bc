// Package daemon has what the command line needs for a hub that runs in the
// background: it starts the process, looks at an address, keeps the log that lies in
// the store, and asks the operating system what only that knows.
//
// A Child and a Log are safe for concurrent use. Each Probe uses a connection of its
// own, so that any number may run at once.
//
// The package never decides whether a hub is to be started, nor what people are told
// when none comes: its callers do. It knows no command and no flag, and never opens a
// store.
package daemon
