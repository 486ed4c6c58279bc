package pause

import (
	"runtime/debug"
	"testing"
)

// TestCollectRarelyEnds: with the last of those who wanted it, and as it was before.
func TestCollectRarelyEnds(t *testing.T) {
	is := func() int { p := debug.SetGCPercent(100); debug.SetGCPercent(p); return p }
	for before, during := range map[int]int{100: rarely, 50: rarely, 400: 400, -1: -1} {
		kept := debug.SetGCPercent(before)
		first, second := CollectRarely(), CollectRarely()
		if got := is(); got != during {
			t.Errorf("with %d before it is %d, want %d", before, got, during)
		}
		first()
		first()
		if got := is(); got != during {
			t.Errorf("with one of two ended it is %d", got)
		}
		second()
		if got := is(); got != before {
			t.Errorf("at the end it is %d, want %d", got, before)
		}
		debug.SetGCPercent(kept)
	}
}
