// Package client speaks to a hub over HTTP. *Client implements hub.Service,
// hub.Status and hub.Control, so that a command, the relay or a test is written
// once against the interfaces, whether the hub is in the process or behind a
// port.
//
// A Client is safe for concurrent use. It starts no goroutine of its own and
// holds only idle connections; Close drops them.
//
// What it promises about delivery: every write carries an idempotency key, and
// a write is sent again only with the key it had, so that it takes effect at
// most once. Retries are few and bounded. Errors are *hub.Error with the code,
// detail and fix of the hub's answer; if no answer came, the status is 0 and
// the code is one that no hub sends. When the caller's context has ended, its
// cause is returned instead.
//
// It never follows a redirect, never uses a proxy, and sends the operator token
// only in operator calls to a hub on this machine whose store id matches the
// folder of the token.
package client
