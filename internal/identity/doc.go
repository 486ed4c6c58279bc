// Package identity remembers on this machine which agent a session of a harness
// is, so that the hooks and the bridge of one session act as the same agent.
//
// Two things are kept for hooks as files in the data root. A Binding says which agent a
// harness session is; it is found by the id of the session. A Note says which agent
// the sessions of a harness process are; it is found by the process, for a hook and
// a bridge that do not know each other's session.
//
// Two more are for "hubcli run": a Run is an agent that was started in a folder, and a
// Background a session that goes on without a terminal.
//
// All of them choose whom a program speaks as, and to which hub. So nothing is believed
// that another user could have written (Trust). Everything is safe for concurrent
// use, by other processes too: of two that begin at once both go by the first. The
// package asks no hub. It keeps one kind of secret: what a session in the background asks of a terminal that attaches.
package identity
