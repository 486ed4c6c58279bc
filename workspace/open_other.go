//go:build !unix

package workspace

const dontWait = 0
