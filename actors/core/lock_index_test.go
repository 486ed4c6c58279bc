package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// TestLockIndexFindsWhatOverlaps: the index finds exactly the locks that hub.LocksOverlap names, after
// any additions and removals.
func TestLockIndexFindsWhatOverlaps(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b.c", "ab", "*", "a*", "?b.*", "**"})
	rapid.Check(t, func(t *rapid.T) {
		var x LockIndex
		held := map[string]bool{}
		path := func(name string) string {
			if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
				return rapid.SampledFrom([]string{"/", "."}).Draw(t, name)
			}
			parts := rapid.SliceOfN(part, 1, 4).Draw(t, name)
			return rapid.SampledFrom([]string{"", "/"}).Draw(t, "root") + strings.Join(parts, "/")
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			key := path("key")
			switch {
			case !held[key]:
				x.Add(key)
				held[key] = true
			default:
				x.Remove(key)
				delete(held, key)
			}
			asked := path("asked")
			got, want := slices.Collect(x.Overlapping(asked)), []string(nil)
			for other := range held {
				if hub.LocksOverlap(other, asked) {
					want = append(want, other)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%q overlaps %q, want %q, of %v", asked, got, want, held)
			}
		}
		for key := range held {
			x.Remove(key)
		}
		if x.root.locked != "" || len(x.root.below) > 0 || len(x.root.patterns) > 0 {
			t.Fatalf("an empty index has %+v", x.root)
		}
	})
}

// BenchmarkLockIndex asks among 10,000 locks, of which 100 are patterns, for one that overlaps a path.
func BenchmarkLockIndex(b *testing.B) {
	var x LockIndex
	for i := range 10_000 {
		key := fmt.Sprintf("/w/p%d/src/f%d.go", i%100, i)
		if i%100 == 0 {
			key = fmt.Sprintf("/w/p%d/**/*.sql", i/100)
		}
		x.Add(key)
	}
	for name, asked := range map[string]string{
		"a free file": "/w/p7/src/f.go", "a taken folder": "/w/p7", "a free folder": "/w/p7/doc",
		"a pattern of many": "/w/**/*.go", "a pattern of none": "/w/**/*.rs",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for range x.Overlapping(asked) {
					break
				}
			}
		})
	}
}
