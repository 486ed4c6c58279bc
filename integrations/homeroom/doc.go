// Package homeroom makes the room of a repository: a project and a room of its name, to which the
// top folder of its work tree is bound. hubcli init does that for a person, and a bridge for an
// agent that needs a room and is in none.
//
// Several may do it at once. The hub decides each step alone, so the second finds what
// the first has made.
package homeroom
