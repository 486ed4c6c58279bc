// Package hubfile keeps, in the data root, a note of each address at which a hub of this
// user has served: which store it was, where the hub's socket for the operator is, and the
// key with which the hub proves itself. Programs of the same user read the notes. So they
// know whether the program that has a port is their hub, whatever it says of itself, and
// they find the operator's plane without asking a port.
//
//	<data root>/hubs/127.0.0.1_6969   a JSON object, mode 0600, in a folder of mode 0700
//	<data root>/port                  the port of this user's hub, where DefaultPort is another user's
//
// A note stays when its hub stops, so that a program that takes the port meanwhile is noticed. The
// next hub of this user at the address replaces it; a reset removes it. Notes whose stores
// are gone are removed when a hub starts.
//
// The package also finds the data root itself, and has the formulas of the proof. It sends
// nothing and keeps no state; everything is safe for concurrent use.
package hubfile
