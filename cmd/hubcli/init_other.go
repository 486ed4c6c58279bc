//go:build !unix

package main

// asInit does nothing: this system has no process 1 that gets the children of others.
func asInit() (code int, done bool) { return 0, false }
