// Package peeruser tells which user of the machine is at the other end of a loopback
// connection. It asks the operating system for the peer's own socket: Linux by its socket
// diagnosis over netlink, or by /proc/net/tcp; macOS by the table of its sockets; Windows by
// its table of connections and the owner of the process. None of it needs rights or cgo.
//
// An answer is about the program that made the socket. Whoever it hands the socket to speaks
// for it. A peer that has left is nobody's: its socket has no owner any more, and systems
// say the superuser's of it.
//
// A Looker is safe for concurrent use. The package decides nothing. It opens no connection but those to itself with which Open tries itself.
package peeruser
