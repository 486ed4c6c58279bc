package hub

import (
	"strings"
	"testing"
)

// TestLocksOverlap: a lock covers its path and all below; a pattern what it matches and all below.
func TestLocksOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"/w/a.go", "/w/a.go", true},
		{"/w/a.go", "/w/b.go", false},
		{"/w/src", "/w/src/a.go", true},
		{"/w/src", "/w/srcs/a.go", false},
		{"/w/src/", "/w/src", true},
		{"/", "/w/a.go", true},
		{"/w/./src/../src", `\w\src\x`, true},
		{"/w/*.sql", "/w/a.sql", true},
		{"/w/*.sql", "/w/a.go", false},
		{"/w/*.sql", "/w/sub/a.sql", false},
		{"/w/**/*.sql", "/w/sub/deep/a.sql", true},
		{"/w/**/*.sql", "/w/a.sql", true},
		{"/w/**/*.sql", "/w/a.go", false},
		{"/w/**/*.sql", "/w/src", true}, // a folder, as it seems
		{"/w/**/*.sql", "/w/**/*.go", false},
		{"/w/**/*.sql", "/w/.git", true},
		{"/w/a.go", "/w/a.go/x", true},
		{"/w/*.app", "/w/x.app/y", false},
		{".", "src/a.go", true},
		{".", "/src/a.go", false},
		{"src", "/src", false},
		{"/w/src/**", "/w/src", true},
		{"/w/src/**", "/w/src/x/y", true},
		{"/w/src/**", "/w/doc/x", false},
		{"/w/*/x", "/w/a", true},
		{"/w/a*", "/w/*b", true},
		{"/w/a*c", "/w/ab?", true},
		{"/w/a*c", "/w/b*", false},
		{"/w/?", "/w/ab", false},
		{"/w/**/x", "/w/**/y", true},
		{"**/x", "a/b/c", true},
		{"src/*.go", "src/*.ts", false},
		{"*aab", "aaab", true},
		{"a*b*c", "a-bc-b-c", true},
		{"?*", "é", true},
		{"??", "é", false},
		{"a*", "a", true},
		{"src/[id].tsx", "src/i.tsx", false}, // brackets are letters like others
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := LocksOverlap(pair[0], pair[1]); got != c.want {
				t.Errorf("%s and %s overlap: %v, want %v", pair[0], pair[1], got, c.want)
			}
		}
	}
	for _, c := range []struct {
		lock, file string
		want       bool
	}{
		{"/w/**/*.sql", "/w/Makefile", false},
		{"/w/**/*.sql", "/w/a/b.sql", true},
		{"/w/*", "/w/Makefile", true},
		{"/w", "/w/src/Makefile", true},
		{"/w/src/Makefile", "/w/src", false},
		{"/", "/w", true},
	} {
		if got := LockCovers(c.lock, c.file); got != c.want {
			t.Errorf("%s covers %s: %v, want %v", c.lock, c.file, got, c.want)
		}
	}
	if n := LockWildcards("/a*/**/b/?"); n != 3 {
		t.Errorf("%d parts have wildcards, want 3", n)
	}
}

// BenchmarkLocksOverlap: the longest pair that the limits allow.
func BenchmarkLocksOverlap(b *testing.B) {
	x, y := "/"+strings.Repeat("**/a*/", 4)+strings.Repeat("c/", 400), "/"+strings.Repeat("*b/**/", 4)+strings.Repeat("d/", 400)
	for b.Loop() {
		LocksOverlap(x, y)
	}
}
