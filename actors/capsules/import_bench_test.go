package capsules_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// bigCapsule writes a capsule of n messages in ten rooms to a file.
func bigCapsule(b *testing.B, n int) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "big.hubpack"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = f.Close() })
	w := capsule.NewWriter(f, capsule.Manifest{ProductVersion: "test", CreatedAt: 1, CapsuleID: strings.Repeat("0b", 16), Scope: capsule.ScopeComplete, Privacy: capsule.FullHistory})
	require.NoError(b, w.Project(capsule.Project{Slug: "big", Name: "Big", CreatedAt: 1}))
	const rooms = 10
	require.NoError(b, w.Section("rooms.ndjson"))
	for r := 1; r <= rooms; r++ {
		require.NoError(b, w.Line(&capsule.Room{ID: capsule.Ref(fmt.Sprintf("r%d", r)), Slug: fmt.Sprintf("room-%d", r), Name: fmt.Sprintf("Room %d", r), CreatedAt: 1, Locks: hub.LocksWarn}))
	}
	require.NoError(b, w.Section("agents.ndjson"))
	for a := range 20 {
		require.NoError(b, w.Line(&capsule.Agent{ID: hub.AgentID(fmt.Sprintf("agent-%02d", a))}))
	}
	for r := 1; r <= rooms; r++ {
		require.NoError(b, w.Section(capsule.MessagesPath(capsule.Ref(fmt.Sprintf("r%d", r)))))
		for i := r; i <= n; i += rooms {
			m := &capsule.Message{
				ID: capsule.Number(i), TS: hub.Time(i), From: hub.AgentID(fmt.Sprintf("agent-%02d", i%20)), Kind: hub.KindChat,
				Body:      fmt.Sprintf("Message %d: the parser fails on nested brackets, see #m%d and #r%d. I shall try a table of cases, and tell you what comes out of it in an hour or so.", i, max(1, i-7), r),
				Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
			}
			if i%5 == 0 {
				m.Thread = hub.ThreadID(fmt.Sprintf("thread-%d", i%5_000))
			}
			require.NoError(b, w.Line(m))
		}
	}
	_, err = w.Close()
	require.NoError(b, err)
	return f
}

// posts posts until it is told to stop, and returns how long each post took.
func posts(ctx context.Context, h *testhub.Hub) <-chan []time.Duration {
	out := make(chan []time.Duration, 1)
	go func() {
		var all []time.Duration
		for ctx.Err() == nil {
			begin := time.Now()
			_, err := h.Hub.Post(hub.WithCaller(context.Background(), &hub.Caller{}), hub.PostInput{FromAgent: "bob", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "beside"})
			if err != nil {
				break
			}
			all = append(all, time.Since(begin))
			time.Sleep(2 * time.Millisecond)
		}
		out <- all
	}()
	return out
}

// heapPeak watches the heap in use until stop is called, which returns the highest value.
func heapPeak() (stop func() uint64) {
	done, out := make(chan struct{}), make(chan uint64)
	go func() {
		var m runtime.MemStats
		peak := uint64(0)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				out <- peak
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-out }
}

// syncedBytes is how long the disk takes to write and sync the bytes of a folder.
func syncedBytes(b *testing.B, bytesTotal int64) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	require.NoError(b, err)
	defer f.Close()
	block := bytes.Repeat([]byte{'x'}, 1<<20)
	begin := time.Now()
	for n := int64(0); n < bytesTotal; n += int64(len(block)) {
		_, err := f.Write(block)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
	}
	return time.Since(begin)
}

func folderBytes(b *testing.B, dir string) (n int64) {
	b.Helper()
	require.NoError(b, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			n += info.Size()
		}
		return nil
	}))
	return n
}

// BenchmarkImport imports a million messages (with -short a tenth) while an agent posts.
func BenchmarkImport(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	f := bigCapsule(b, n)
	info, err := f.Stat()
	require.NoError(b, err)
	for b.Loop() {
		h := startHub(b)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		before := p99(<-posts(ctx, h))
		cancel()
		runtime.GC()
		var idle runtime.MemStats
		runtime.ReadMemStats(&idle)
		stored := folderBytes(b, h.Dir)
		ctx, cancel = context.WithCancel(context.Background())
		during, peak := posts(ctx, h), heapPeak()
		begin := time.Now()
		r, err := capsule.Open(f, info.Size(), capsule.DefaultLimits())
		require.NoError(b, err)
		require.NoError(b, r.Verify(b.Context(), nil))
		verified := time.Since(begin)
		_, err = imported(operator(b), r, h.Hub)
		require.NoError(b, err)
		took := time.Since(begin)
		cancel()
		b.ReportMetric(took.Seconds(), "s/import")
		b.ReportMetric(verified.Seconds(), "s/verify")
		b.ReportMetric(float64(peak()-idle.HeapInuse)/(1<<20), "MiB-above-idle")
		b.ReportMetric(before, "ms-p99-before")
		b.ReportMetric(p99(<-during), "ms-p99-during")
		b.ReportMetric(syncedBytes(b, folderBytes(b, h.Dir)-stored).Seconds(), "s/disk-alone")
		require.NoError(b, h.Stop())
	}
}
