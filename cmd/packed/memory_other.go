//go:build unix && !linux

package main

// fromMemory is not possible here.
func fromMemory([]string) error { return errNoMemoryFile }
