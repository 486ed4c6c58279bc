// Package httpapi serves the v1 contract over HTTP: one table of routes, a guard
// that every request passes first, one file of handlers per resource, long-polls
// and server-sent events.
//
// A handler decodes, checks, calls a service of package hub and returns its
// answer or error; one place writes both. The services decide about the hub's
// state: this package keeps only its connections and counters, and it knows
// interfaces only, never an actor or a store. A Server may be used from any
// goroutine. It never logs bodies or secrets, never redirects, and never sends
// a CORS header.
package httpapi
