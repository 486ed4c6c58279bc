// Package wire is the cheapest HTTP/1.1 client that still checks what it reads.
// The load generator shares the machine with the server that it measures, so
// that each microsecond of its own distorts the figure: a request is bytes that
// were built once, an answer is its status and its body, and neither allocates.
//
// A Conn belongs to one goroutine. The package never retries, follows no
// redirect and knows nothing of the hub but the names of its headers.
package wire
