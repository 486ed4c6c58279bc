//go:build unix

package forwarder

import "golang.org/x/sys/unix"

// openFiles is how many files the process may have open.
func openFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 256 // what every system gives
	}
	return uint64(limit.Cur) // signed on some systems
}
