// Package hub is the vocabulary of the coordination hub: identifiers, rows,
// kinds, states, limits, error codes and the interfaces of its services.
//
// Every package may import it; it imports the standard library only. Its values
// are plain data: they may be copied and shared once they are built, and
// nothing in this package starts a goroutine, reads a clock or touches a file.
//
// Rows (Message, Session, Claim, …) carry the JSON names of the v1 wire
// contract, so that one struct serves the daemon, the client and the tests. A
// field that may be absent on the wire is a pointer and is null there.
package hub
