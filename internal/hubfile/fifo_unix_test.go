//go:build unix

package hubfile

import "syscall"

func mkfifo(file string) error { return syscall.Mkfifo(file, 0o600) }
