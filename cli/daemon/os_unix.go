//go:build unix

package daemon

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// detached makes a child that outlives the terminal and the session it was
// started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// IgnoreClosedOutput keeps the daemon alive if it writes to stderr after its
// starter has gone.
func IgnoreClosedOutput() { signal.Ignore(syscall.SIGPIPE) }

// IsAddrInUse reports whether an error of the system says that an address is taken
// where errors.Is with EADDRINUSE does not. There is none here.
func IsAddrInUse(error) bool { return false }

// OpenFiles returns how many files the process may open, or 0 if unknown. Go
// has raised it to the hard limit already when the program started.
func OpenFiles() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return uint64(l.Cur)
}

// closedAtOtherEnd reports whether f is a pipe, socket or terminal whose reader is gone. A
// socket whose other end is closed has hung up, and has no error before something is written.
func closedAtOtherEnd(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
