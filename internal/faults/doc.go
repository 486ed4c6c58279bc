// Package faults plants mistakes into the project, one at a time, and expects the
// test that guards against each to fail. There is about one mistake for each
// promise of docs/guarantees.md. A mistake names a function and a small part of
// it, never a file or a package, so code can move without an edit here. The
// package holds tests only and changes no file: the go command reads the spoiled
// file in place of the real one (-overlay).
//
//	go test ./internal/faults -faults -timeout 60m
//
// Without -faults it only checks, in seconds, that every mistake can still be
// planted, that the code with it compiles and that every named test exists.
package faults
