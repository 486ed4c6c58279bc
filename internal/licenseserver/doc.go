// Package licenseserver is a license server for tests. It listens on loopback, speaks the
// protocol that Keygen publishes, counts the machines of each license, and signs its answers,
// keys and files with an Ed25519 key of its own.
//
// It is strict: a request that is not exactly as the protocol describes is refused and noted,
// and Complaints lists these notes. It can also lie in the ways of Lies. It shares no code with
// the client that it tests.
//
// A Server may be used from any goroutine. The package is for tests only: it keeps everything
// in memory and ends with Close.
package licenseserver
