package daemon

import (
	"testing"

	"hubcli/hub"
)

// TestConnectionsLeaveFilesToTheStore: however few files there are, the store has half of them.
func TestConnectionsLeaveFilesToTheStore(t *testing.T) {
	for files, want := range map[uint64]int{0: hub.MaxConnections, 1: 1, 64: 32, 256: 128, 1_024: 512, 4_096: 3_072, 1 << 20: hub.MaxConnections, 1<<63 + 1: hub.MaxConnections} {
		if got := Connections(files); got != want {
			t.Errorf("%d connections of %d files, want %d", got, files, want)
		}
	}
}
