package testhub

import (
	"context"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// OtherUser is an account that is not the one of a test.
const OtherUser = 65534

// DialAs returns a function that connects with sockets of another user of the machine: a socket
// belongs to the user with whose rights its thread makes it. Without root the test is skipped.
func DialAs(tb testing.TB, uid int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("connecting as another user of the machine needs root")
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(uid); err != nil {
			return nil, err
		}
		defer func() { _ = syscall.Setfsuid(0) }() // root may always
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
}
