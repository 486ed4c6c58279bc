// Package api is the wire side of the v1 contract: the table of operations, the router that is made
// of it, the envelopes, strict decoding of requests and the checks of every input.
//
// Folder gen makes openapi.yaml of the table, by go generate ./api. The comment above a row is the
// description of the call: the first paragraph is its summary, and of the others these have a
// meaning of their own:
//
//	Query:    the parameters of the query: names from gen/shared.go, or a list of name (bounds): words
//	Path:     the parameter of the path, if gen/shared.go does not describe it, or not so
//	Header:   a header that only this call has
//	Answer:   what a success is
//	Bounded:  what bounds a list that has no pages
//
// What a call takes and answers is described by the comments of the fields in package hub, and by
// their tags bounds; gen/bounds.go says what may stand there. A paragraph of a type's comment that
// begins with API: describes the type.
//
// The daemon decodes and checks with it, the Go client reads envelopes with it.
// Its functions keep no state and may be called from any goroutine. It never
// decides anything that depends on the hub's state, and it never opens a socket
// or a file.
package api
