package view

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFirsts compares what is kept with what sorting everything would give.
func TestFirsts(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, all := 1+rng.IntN(20), []int{}
		f := Firsts[int]{N: n, Compare: cmp.Compare[int]}
		for range rng.IntN(200) {
			row := rng.IntN(50)
			all = append(all, row)
			f.Add(row)
			if len(f.rows) > 2*n {
				t.Fatalf("seed %d: %d rows are held for a page of %d", seed, len(f.rows), n)
			}
		}
		slices.Sort(all)
		if got, want := f.Sorted(), all[:min(n, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}
