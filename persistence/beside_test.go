package persistence

import (
	"sync"
	"sync/atomic"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A reader of the journal beside an append never misses a record that the
// journal says it has.
func TestRecordsBesideAppendMissNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	var over atomic.Bool
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() {
			for !over.Load() {
				after := max(s.tail.Load(), 1) - 1
				if err := s.Records(hub.Seq(after), func(*core.Record) error { return nil }); err != nil {
					t.Errorf("after %d: %v", after, err)
					over.Store(true)
				}
			}
		})
	}
	for n := hub.Seq(1); n <= 800 && !over.Load(); n++ {
		r := &core.Record{Seq: n, Owner: core.Owner{Kind: core.OwnerTasks}, FirstMessage: 1, FirstFence: 1}
		require.NoError(t, s.Append(&core.Group{Records: []*core.Record{r}}))
	}
	over.Store(true)
	readers.Wait()
}
