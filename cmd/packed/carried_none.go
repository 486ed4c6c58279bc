//go:build unix && !carries

package main

// carried is empty: this build is for tools that read the sources.
var carried []byte
