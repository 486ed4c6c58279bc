//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// detached makes a child that outlives the terminal and the session it was
// started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ignoreClosedOutput keeps the daemon alive when it writes to the stderr of a
// starter that is gone.
func ignoreClosedOutput() { signal.Ignore(syscall.SIGPIPE) }

func isAddrInUse(error) bool { return false }

// openFiles is how many files the process may open, or 0 if that is not known.
// Go has raised it to the hard limit already when the program started.
func openFiles() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return uint64(l.Cur)
}

// closedAtOtherEnd reports whether f is a pipe or socket whose reader is gone.
func closedAtOtherEnd(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLNVAL) != 0
}
