// Package keygen speaks the licensing protocol that Keygen publishes: it validates a key,
// adds, finds and removes a machine, and gets a machine file. It also verifies what such a
// server has signed with Ed25519: answers, license keys and files.
//
// An answer is used only after its signature, its digest and its date are right, and only if
// it is about the key, the machine and the license that were asked for. A key goes to the
// configured server alone: no redirect is followed, and without TLS only this machine is
// called.
//
// A Client may be used from any goroutine. The package keeps no state, writes no file, never
// repeats a call, and puts no key into an error.
package keygen
