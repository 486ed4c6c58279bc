package persistence

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// BenchmarkAppend measures a synced group of n posts of 500 bytes.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 32, 500} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			w := &conformance.Writer{}
			body := strings.Repeat("x", 500)
			for b.Loop() {
				g := &core.Group{}
				for range n {
					g.Records = append(g.Records, w.Post("general", "t", body))
				}
				require.NoError(b, s.Append(g))
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "posts/s")
		})
	}
}

// BenchmarkRead measures reads of old rows.
func BenchmarkRead(b *testing.B) {
	s := openStore(b, b.TempDir())
	fill(b, s, 20_000, false)
	b.Run("message", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.Message(hub.MessageID(i*7919%20_000 + 1)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unknown effect", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, _ = s.Effect([32]byte{byte(i), byte(i >> 8)})
		}
	})
	b.Run("100 of a channel", func(b *testing.B) {
		for b.Loop() {
			n := 0
			_ = s.Messages(core.Scope{Kind: core.ScopeChannel, Name: "channel-3"}, 0, hub.MaxMessageID, true, func(*core.StoredMessage) bool {
				n++
				return n < 100
			})
		}
	})
}

// fill appends posts of 500 bytes in groups of 500. If checkpoints is set, it
// saves one after every 20,000 posts.
func fill(tb testing.TB, s *Store, posts int, checkpoints bool) {
	w := &conformance.Writer{Head: s.Head()}
	body := strings.Repeat("x", 500)
	for done := 0; done < posts; {
		g := &core.Group{}
		for range min(500, posts-done) {
			thread := hub.ThreadID(fmt.Sprintf("thread-%d", done/50))
			r := w.Post(hub.ChannelName(fmt.Sprintf("channel-%d", done%20)), thread, body)
			g.Rows = append(g.Rows, core.Row{Table: core.TableThread, Key: []byte(thread), Value: []byte(`{"count":12,"latest":123456}`)})
			r.Effect = &core.Effect{Scope: [32]byte{byte(done), byte(done >> 8), byte(done >> 16), 7}, Seq: r.Seq, Answer: []byte("1234")}
			g.Records = append(g.Records, r)
			done++
		}
		require.NoError(tb, s.Append(g))
		if checkpoints && done%20_000 == 0 {
			require.NoError(tb, s.SaveCheckpoint(&core.Checkpoint{Head: w.Head}))
		}
	}
}

// TestFootprint loads a store with HUB_FOOTPRINT messages (the specification
// names 1000000) and prints memory and opening times. It is a measurement, not
// a test: without the variable it does not run.
//
//	HUB_FOOTPRINT=1000000 go test -run TestFootprint -v ./persistence
func TestFootprint(t *testing.T) {
	posts, err := strconv.Atoi(os.Getenv("HUB_FOOTPRINT"))
	if err != nil {
		t.Skip("needs HUB_FOOTPRINT")
	}
	dir := t.TempDir()
	s := openStore(t, dir)
	t.Logf("empty: %s", memory())
	begin := time.Now()
	fill(t, s, posts, true)
	t.Logf("load: %v, %s", time.Since(begin), memory())
	time.Sleep(6 * time.Second)
	t.Logf("6 s later: %s", memory())
	if name := os.Getenv("HUB_HEAP"); name != "" {
		f, _ := os.Create(name)
		_ = pprof.WriteHeapProfile(f)
		_ = f.Close()
	}
	kill := dir + ".kill"
	require.NoError(t, os.CopyFS(kill, os.DirFS(dir)))
	defer os.RemoveAll(kill)
	begin = time.Now()
	require.NoError(t, s.Close())
	t.Logf("close: %v", time.Since(begin))
	for name, dir := range map[string]string{"clean": dir, "as a kill leaves it": kill} {
		begin = time.Now()
		s, err = Open(dir, Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		require.NoError(t, err)
		t.Logf("open %s: %v, %s", name, time.Since(begin), memory())
		require.NoError(t, s.Close())
	}
}

// memory describes the anonymous memory of the process and Go's heap.
func memory() string {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	out := fmt.Sprintf("heap in use %d MiB", m.HeapInuse>>20)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if name, value, ok := strings.Cut(line, ":"); ok && name == "RssAnon" {
			out += ", anonymous " + strings.TrimSpace(value)
		}
	}
	return out
}
