// Package relay carries calls of agents that cannot reach the hub's port through
// a folder that they share with it, the spool. Both sides are here: Transport is
// the agent's, an http.RoundTripper that api/client takes as any other, and
// Forwarder is the hub's, which sends what it finds to the hub and writes the
// answers beside.
//
// The spool is hostile ground: whoever may write to it may write anything, at any
// moment. The forwarder follows no link, opens nothing but regular files, and
// takes the word of a file about nothing but what its own agent wants. What is
// lost when either side dies is nothing: a request is a file until its answer is
// one, and its id is the idempotency key with which the hub does it once.
//
// Transport and Forwarder may be used by many goroutines; any number of
// forwarders, in any number of processes, may serve one spool. The package never
// starts a hub, never creates a spool that nobody asked for, and decides nothing
// about messages.
package relay
