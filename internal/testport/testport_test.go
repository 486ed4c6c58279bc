package testport

import (
	"fmt"
	"net"
	"testing"

	"hubcli/internal/require"
)

// TestTake: no port is given twice, a process can listen on each, and each is
// reserved against other calls of Take.
func TestTake(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port, err := Take()
		require.NoError(t, err)
		if seen[port] || port < lowest || port >= highest {
			t.Fatalf("port %d was given before or is out of the range; before it: %v", port, seen)
		}
		seen[port] = true
		address := fmt.Sprintf("127.0.0.1:%d", port)
		l, err := net.Listen("tcp4", address)
		require.NoError(t, err)
		_ = l.Close()
		if other, err := net.ListenPacket("udp4", address); err == nil {
			_ = other.Close()
			t.Fatalf("port %d is not held", port)
		}
	}
}
