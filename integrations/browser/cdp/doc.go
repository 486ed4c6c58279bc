// Package cdp speaks the DevTools protocol with a browser engine over two pipes.
//
// The engine shows pages that nobody trusts, so what it sends is bounded: a message that
// is too long is read past and fails its call alone, and events are handed over one by
// one and never queued. A Conn may be used by several goroutines at once. The package
// knows no page, starts no process, and never waits longer than its caller says.
package cdp
