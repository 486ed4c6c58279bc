//go:build unix

package workspace

import "syscall"

// dontWait keeps a pipe that took a file's place from holding its opener.
const dontWait = syscall.O_NONBLOCK
