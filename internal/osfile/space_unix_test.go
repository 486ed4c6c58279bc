//go:build unix

package osfile

import "syscall"

func full() error { return syscall.ENOSPC }
