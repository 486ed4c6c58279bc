// Package adapter has the commands that set harnesses up: they show what would change in a file, ask, and have the hub
// write it.
package adapter
