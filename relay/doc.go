// Package relay carries calls of agents that cannot reach the hub's port through
// a folder that they share with it, the spool. This package has the format of the
// spool's files and the agent's side, Transport, an http.RoundTripper that
// api/client takes as any other. The hub's side is package forwarder.
//
// Nothing is lost when either side dies: a request is a file until its answer is
// one, and its id is the idempotency key with which the hub does it once.
//
// A Transport may be used by many goroutines. The package never starts a hub,
// never creates a spool that nobody asked for, and decides nothing about messages.
package relay
