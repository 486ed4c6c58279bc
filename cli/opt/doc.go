// Package opt is what commands take: flags and their values, the address of the hub and the agent, which the
// environment may name, questions to a person, and the failures of mistyped words.
//
// A set of flags is a struct that a command embeds; nothing here is global. The package knows no command.
package opt
