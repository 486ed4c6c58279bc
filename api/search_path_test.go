//go:build unix

package api

import (
	"strings"
	"testing"
)

// TestSearchPath: whatever PATH holds, what is made of it is taken, and what a hostile caller
// sends is refused.
func TestSearchPath(t *testing.T) {
	for env, want := range map[string]string{
		"":                              "",
		"/a:/b":                         "/a:/b",
		"/a::.:bin:/b:/a":               "/a:/b",
		"/a:/x\ny:/\xff:/b":             "/a:/b",
		"/" + strings.Repeat("x", 4096): "",
	} {
		if got := SearchPath(env); got != want {
			t.Errorf("%q became %q, want %q", env, got, want)
		}
	}
	many := SearchPath(strings.Repeat("/a", 20) + ":" + strings.Repeat("/b:/c:", 10) + manyFolders(1000))
	if err := CheckSearchPath("search_path", many); err != nil || many == "" {
		t.Errorf("%q: %v", many, err)
	}
	for _, bad := range []string{"bin", "/a:", ":/a", "/a:.", "/a:/x\x00", "/\xff", manyFolders(MaxSearchFolders + 1), "/" + strings.Repeat("x", MaxSearchPathBytes)} {
		if err := CheckSearchPath("search_path", bad); err == nil {
			t.Errorf("%.60q is taken", bad)
		}
	}
}

func manyFolders(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString("/" + string(rune('a'+i%26)) + strings.Repeat("z", i/26%9))
	}
	return b.String()
}
