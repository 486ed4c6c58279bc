// Package faults plants mistakes into the project, one at a time, and expects the
// test that guards against each to fail. It holds tests only and changes no file:
// the go command reads the planted file in place of the real one (-overlay).
//
//	go test ./internal/faults -faults -timeout 60m
//
// Without -faults it only checks, in an instant, that every mistake can still be
// planted and that every named test exists.
package faults
