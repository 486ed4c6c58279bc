//go:build !unix

package folders

const dontWait = 0
