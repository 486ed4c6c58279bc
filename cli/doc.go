// Package cli is the command line: the tree of the commands, their help, completion and short names, and Run, which
// finds a command, runs it and says how it ended. The commands stand in folders by their user: person, agent,
// machine, room, adapter, capsule, connection, setup. They stand on list, opt and term, which know no command.
//
// A command fills a struct of its own from its flags, checks its arguments and then runs against term.Env. Its answer
// goes to stdout, everything else to stderr; a failure is one sentence and, where the reader can do something about
// it, a fix on its own line. Nothing here is global, so that commands may run several times and at once in one
// process.
//
// The command line speaks to a hub over HTTP alone. It never opens a store: what the daemon is made of, and what
// deletes a store, is handed in by Env. It never ends the process; Run returns the exit code.
package cli
