package supervisor_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hubcli/hub"
	"hubcli/supervisor"
)

// BenchmarkPost measures posts through the actors and the real store, without
// HTTP: every one is synced before it returns.
func BenchmarkPost(b *testing.B) {
	for _, agents := range []int{1, 64} {
		b.Run(strconv.Itoa(agents), func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			t, err := supervisor.Start(supervisor.Config{Storage: b.TempDir(), Listener: l})
			if err != nil {
				b.Fatal(err)
			}
			defer t.Stop()
			body := strings.Repeat("x", 256)
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for i := range agents {
				wg.Go(func() {
					in := hub.PostInput{FromAgent: hub.AgentID("agent-" + strconv.Itoa(i)), Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body}
					for left.Add(-1) >= 0 {
						if _, err := t.Hub.Post(context.Background(), in); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
		})
	}
}
