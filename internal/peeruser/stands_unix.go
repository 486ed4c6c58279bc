//go:build unix

package peeruser

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// stands reports whether a connection still has two ends. A peer that reset it has given its
// end free, and another program may have it.
func (l *Looker) stands(conn net.Conn, _ pair) bool {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	err = control.Control(func(fd uintptr) { _, failed = unix.Getpeername(int(fd)) })
	return err == nil && failed == nil
}

// Superuser reports whether a user may do everything on this machine anyway.
func (u User) Superuser() bool { return u == "0" }

func pid() int { return os.Getpid() }

func isNumber(name string) bool { return canonicalNumber(name) }
