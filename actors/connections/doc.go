// Package connections keeps the operator's connections to hosted providers: it finds their
// keys, has the owner of connections decide, and asks providers. Keys stay in the credential
// store or in the hub's environment; rows hold a reference and a salted fingerprint.
//
// A Manager may be used by several goroutines at once. It sends a key to no other servers
// than those for which it was given, and writes no key to a log, an error or a row.
package connections
