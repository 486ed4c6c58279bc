// Package contract binds the daemon to openapi.yaml in tests: it checks every
// request and answer that passes through its transport against the description
// and counts which operations and error codes a test run has produced.
//
// A Checker may be used from any goroutine. The package never changes what
// passes through it, and nothing but tests imports it.
package contract
