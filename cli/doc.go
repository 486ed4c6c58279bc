// Package cli is the command line: one file per command, and Run, which finds
// the command, runs it and says how it ended. What commands share lies in files
// that say so: flags, print, failure, exit and env.
//
// A command fills a struct of its own from its flags, checks its arguments and
// then runs against Env. Its answer goes to stdout, everything else to stderr;
// a failure is one sentence and, where the reader can do something about it, a
// fix on its own line. Nothing here is global, so that commands may run several
// times and at once in one process.
//
// The package speaks to a hub over HTTP alone. It never opens a store: what the
// daemon is made of, and what deletes a store, is handed in by Env. It never
// ends the process; Run returns the exit code.
package cli
