package readable

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
)

// disk is a Sink in a folder.
type disk struct {
	dir string
	n   int64
}

func (d *disk) Append(name string, data []byte) error {
	d.n += int64(len(data))
	full := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(data)
	return err
}

// bigCapsule writes a capsule of n messages in ten rooms and returns its path.
func bigCapsule(b *testing.B, n int) string {
	b.Helper()
	const rooms = 10
	file := filepath.Join(b.TempDir(), "big.hubpack")
	f, err := os.Create(file)
	require.NoError(b, err)
	w := capsule.NewWriter(f, shop().manifest)
	require.NoError(b, w.Project(shop().project))
	require.NoError(b, w.Section("rooms.ndjson"))
	for r := 1; r <= rooms; r++ {
		require.NoError(b, w.Line(&capsule.Room{ID: capsule.Ref(fmt.Sprintf("r%d", r)), Slug: fmt.Sprintf("room-%d", r), Name: "A room", CreatedAt: at(1), Locks: hub.LocksWarn}))
	}
	require.NoError(b, w.Section("agents.ndjson"))
	require.NoError(b, w.Line(&capsule.Agent{ID: "ann"}))
	for r := 1; r <= rooms; r++ {
		require.NoError(b, w.Section(capsule.MessagesPath(capsule.Ref(fmt.Sprintf("r%d", r)))))
		for i := r; i <= n; i += rooms {
			require.NoError(b, w.Line(&capsule.Message{
				ID: capsule.Number(i), TS: at(i / 100), From: "ann", Kind: hub.KindChat, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
				Body: fmt.Sprintf("I looked at parser_%d and *found* that [index] %d does not agree with the schema, see #m%d.\n\nThe next step is to change <T> in `cursor.go`, then the client of %x; the rest can wait until the lease is over.", i%97, i, max(1, i-3), i*2654435761%1_000_003),
			}))
		}
	}
	_, err = w.Close()
	require.NoError(b, err)
	require.NoError(b, f.Close())
	return file
}

func BenchmarkRender(b *testing.B) {
	sizes := []int{100_000}
	if !testing.Short() {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			f, err := os.Open(bigCapsule(b, n))
			require.NoError(b, err)
			defer f.Close()
			info, err := f.Stat()
			require.NoError(b, err)
			src, err := capsule.Open(f, info.Size(), capsule.DefaultLimits())
			require.NoError(b, err)
			var before, now runtime.MemStats
			for b.Loop() {
				out := &disk{dir: b.TempDir()}
				runtime.GC()
				runtime.ReadMemStats(&before)
				most := uint64(0)
				require.NoError(b, Render(context.Background(), src, out, Bundle, func(lines int64) {
					if lines%(checkEvery*64) == 0 {
						runtime.ReadMemStats(&now)
						most = max(most, now.HeapAlloc)
					}
				}))
				b.SetBytes(out.n)
				b.ReportMetric(float64(out.n), "bytes")
				b.ReportMetric(float64(int64(most)-int64(before.HeapAlloc))/(1<<20), "MB-heap")
				require.NoError(b, os.RemoveAll(out.dir))
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
