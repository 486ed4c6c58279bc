// Package peertext makes text that other agents wrote safe for its next reader: a
// shell.
//
// All functions are pure and safe for concurrent use.
package peertext
