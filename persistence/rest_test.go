package persistence

import (
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// compactors counts the goroutines of Badger that look for work.
func compactors(t *testing.T) int {
	t.Helper()
	var b strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 2))
	return strings.Count(b.String(), ").runCompactor(")
}

// TestCompactorsRest while nobody commits, and work again with the next commit.
func TestCompactorsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		post(t, s, 1)
		if n := compactors(t); n != 2 {
			t.Errorf("%d compactors look for work right after a commit, want 2", n)
		}
		time.Sleep(3 * restAfter)
		if n := compactors(t); n != 0 {
			t.Errorf("%d compactors look for work in a store that nobody uses", n)
		}
		post(t, s, 1)
		if n := compactors(t); n != 2 {
			t.Errorf("%d compactors look for work after the next commit, want 2", n)
		}
		time.Sleep(3 * restAfter)
		require.NoError(t, s.Close())
		if n := compactors(t); n != 0 {
			t.Errorf("%d compactors are left", n)
		}
	})
}

// TestCompactorsKeepUp: they do not rest before what is due is done.
func TestCompactorsKeepUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := &conformance.Writer{}
		for round := range 120 {
			g := &core.Group{}
			for range 500 {
				g.Records = append(g.Records, w.Post("general", "thread", strings.Repeat("x", 500)))
				g.Rows = append(g.Rows, core.Row{Table: core.TableThread, Key: core.IDKey(w.Head.Message), Value: make([]byte, 900)})
			}
			require.NoError(t, s.Append(g))
			if round%10 == 9 {
				time.Sleep(2 * restAfter)
			}
		}
		time.Sleep(time.Minute)
		if !s.rest.resting.Load() || s.rest.due() {
			t.Error("the compactors do not rest, or a level is due")
		}
		tables := 0
		for _, level := range s.db.Levels()[1:] {
			tables += level.NumTables
		}
		if tables == 0 {
			t.Error("nothing was compacted")
		}
		require.NoError(t, s.Close())
	})
}

// TestCompactorsDoNotRestBeforeTheirWork: a level that is due keeps them awake.
func TestCompactorsDoNotRestBeforeTheirWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		stopCompactions(s.db) // so that the work is still there at the next look
		w := &conformance.Writer{}
		for s.db.Levels()[0].NumTables < 5 {
			g := &core.Group{}
			for range 500 {
				g.Records = append(g.Records, w.Post("general", "thread", "x"))
				g.Rows = append(g.Rows, core.Row{Table: core.TableThread, Key: core.IDKey(w.Head.Message), Value: make([]byte, 900)})
			}
			require.NoError(t, s.Append(g))
			synctest.Wait() // the tables are written beside the commits
		}
		s.rest.used.Store(false)
		s.rest.tick()
		if s.rest.resting.Load() {
			t.Error("they rest, and level 0 is due")
		}
		startCompactions(s.db)
		time.Sleep(time.Minute)
		if !s.rest.resting.Load() || s.rest.due() {
			t.Error("they do not rest after their work")
		}
		require.NoError(t, s.Close())
	})
}
