// Package gate is the only way of a browser engine to the network: a proxy on loopback
// that dials for it.
//
// Each room has a Pass: a name and a secret with which the engine asks, and the hosts that
// the operator allows in the room. The gate resolves a name itself, refuses the whole name
// if one of its addresses is not public, and dials exactly the address that it has looked
// at. So it does not matter how a page spells an address, where it redirects to, or what a
// name means a moment later. All functions may be called by several goroutines at once. The
// package keeps nothing of what passes through, and dials nothing unasked.
package gate
