// Package api is the wire side of the v1 contract: openapi.yaml, the table of
// operations, the router that is made of it, the envelopes,
// strict decoding of requests and the checks of every input.
//
// The daemon decodes and checks with it, the Go client reads envelopes with it.
// Its functions keep no state and may be called from any goroutine. It never
// decides anything that depends on the hub's state, and it never opens a socket
// or a file.
package api
