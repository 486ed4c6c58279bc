//go:build !linux

package testhub

import (
	"context"
	"net"
	"testing"
)

// OtherUser is an account that is not the one of a test.
const OtherUser = 65534

// DialAs skips the test: only Linux gives one thread the rights of another user.
func DialAs(tb testing.TB, _ int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	tb.Helper()
	tb.Skip("connecting as another user of the machine needs Linux and root")
	return nil
}
