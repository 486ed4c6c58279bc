//go:build unix

package folders

import "syscall"

// dontWait keeps a pipe that took a file's place from holding its opener.
const dontWait = syscall.O_NONBLOCK
