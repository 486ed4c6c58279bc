// Package term is the floor of the command line: what a command uses of its surroundings (Env), the errors that it
// ends with and their exit codes, and what it prints: tables, colors, JSON, notes and meters.
//
// Nothing here is global, so that commands may run several times and at once in one process. The package knows no
// command, no flag of one and no hub. It never ends the process.
package term
