package capsules

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFreeNumbersAreFound(t *testing.T) {
	for _, c := range []struct {
		named             []int64
		from, count, want int64
	}{
		{nil, 5, 10, 5},
		{[]int64{4, 15}, 5, 10, 5},
		{[]int64{5}, 5, 10, 6},
		{[]int64{14, 5, 14}, 5, 10, 15},
		{[]int64{9, 30, 20}, 5, 10, 10},
		{[]int64{9, 29, 19}, 5, 11, 30},
		{[]int64{5}, 5, 0, 5},
	} {
		var n named
		for _, number := range c.named {
			n.add(number)
		}
		if got := n.fit(c.from, c.count); got != c.want {
			t.Errorf("%d numbers from %d, without %v: from %d, want %d", c.count, c.from, c.named, got, c.want)
		}
	}
}

// The first place that fits is found, and it is the first.
func TestFreeNumbersAreTheFirst(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var n named
		all := rapid.SliceOfN(rapid.Int64Range(1, 60), 0, 30).Draw(r, "named")
		for _, number := range all {
			n.add(number)
		}
		from, count := rapid.Int64Range(1, 60).Draw(r, "from"), rapid.Int64Range(1, 10).Draw(r, "count")
		want := from
		for i := from; i < want+count; i++ {
			if slices.Contains(all, i) {
				want = i + 1
			}
		}
		if got := n.fit(from, count); got != want {
			r.Fatalf("from %d, want %d", got, want)
		}
	})
}

// More numbers than are remembered: either a place among the lowest fits, or one behind all.
func TestFreeNumbersAmongVeryMany(t *testing.T) {
	var n named
	for i := int64(5 * maxNamed); i > 0; i-- {
		n.add(2 * i)
	}
	if len(n.numbers) > 2*maxNamed {
		t.Errorf("%d numbers are remembered", len(n.numbers))
	}
	if got := n.fit(4, 1); got != 5 {
		t.Errorf("one number from 4: %d", got)
	}
	if got := n.fit(4, 2); got != 10*maxNamed+1 {
		t.Errorf("two numbers from 4: %d", got)
	}
}
