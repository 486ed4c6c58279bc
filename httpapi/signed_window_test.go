package httpapi

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hubcli/api"
)

// TestCountersAreUsedOnce: in any order each counter within the window is taken once, and
// none behind it.
func TestCountersAreUsedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p, used, highest := &pageCalls{}, map[uint64]bool{}, uint64(0)
	for range 200_000 {
		n := uint64(max(1, int64(highest)+r.Int64N(2*window)-window*3/2))
		if r.IntN(1000) == 0 {
			n += uint64(r.IntN(5 * window))
		}
		want := !used[n] && n+window > highest
		if got := p.use(n); got != want {
			t.Fatalf("counter %d with %d the highest: %t, want %t", n, highest, got, want)
		}
		used[n], highest = true, max(highest, n)
	}
	if len(used) < 10_000 {
		t.Errorf("%d counters were tried", len(used))
	}
}

// TestPagesAreBounded: a pass has a bounded number of pages, and those that call stay.
func TestPagesAreBounded(t *testing.T) {
	g := newSignatures()
	name := func(i int) string {
		return strings.Repeat("x", 16) + string(rune('0'+i%64)) + strings.Repeat("y", i/64)
	}
	for i := range 10 * maxPages {
		if !g.use(&api.SignedCall{Pass: "pass_1", Page: name(i), Counter: 1}) || !g.use(&api.SignedCall{Pass: "pass_1", Page: "the page that stays", Counter: uint64(i + 1)}) {
			t.Fatal("a new counter is refused")
		}
	}
	if n := len(g.pages["pass_1"]); n != maxPages {
		t.Errorf("%d pages are remembered", n)
	}
	if g.use(&api.SignedCall{Pass: "pass_1", Page: "the page that stays", Counter: 1}) {
		t.Error("a page that goes on calling was forgotten")
	}
	if g.forget("pass_1"); len(g.pages) != 0 {
		t.Error("the pages of a pass that has ended are remembered")
	}
}
