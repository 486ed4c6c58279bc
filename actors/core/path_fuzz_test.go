package core

import (
	"strings"
	"testing"
)

// FuzzCanonicalPath: the canonical form of a path is its own canonical form and has no
// second spelling of a segment. Every spelling with other slashes has the same.
func FuzzCanonicalPath(f *testing.F) {
	for _, s := range []string{"a", "/a//b/./c/../d/", `c:\x\y`, "C:/x", "..", "../..", "/..", ".", "a/", "é", "e\u0301", "a\x00b", "\xff", strings.Repeat("a/", 600)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := CanonicalPath(s)
		if err != nil {
			return
		}
		if again, err := CanonicalPath(got); err != nil || again != got {
			t.Fatalf("%q is %q, and that is %q: %v", s, got, again, err)
		}
		if strings.ContainsAny(got, "\\\x00") || strings.Contains(got, "//") || strings.Contains(got, "/./") || got == "" {
			t.Fatalf("%q is %q", s, got)
		}
		for _, other := range []string{strings.ReplaceAll(s, "/", `\`), strings.ReplaceAll(s, `\`, "/")} {
			if same, err := CanonicalPath(other); err != nil || same != got {
				t.Fatalf("%q is %q, and %q is %q: %v", s, got, other, same, err)
			}
		}
		if _, err := CanonicalPrefix(s); err != nil {
			t.Fatalf("%q is a path and no beginning of one: %v", s, err)
		}
	})
}
