package term

import "testing"

// TestDiffsInColor: only lines of a diff get a color, only on a terminal, and
// never with NO_COLOR.
func TestDiffsInColor(t *testing.T) {
	const diff = "Set the hub up?\n--- a\n+++ b\n@@ -1 +1,2 @@\n {\n-old\n+new\n }\n"
	const want = "Set the hub up?\n\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1 +1,2 @@\x1b[0m\n {\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n }\n"
	if got := Paint(diff); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	yes, no := func() bool { return true }, func() bool { return false }
	for _, c := range []struct {
		terminal func() bool
		vars     map[string]string
		want     bool
	}{
		{nil, nil, false},
		{no, nil, false},
		{yes, nil, true},
		{yes, map[string]string{"NO_COLOR": "1"}, false},
		{yes, map[string]string{"TERM": "dumb"}, false},
	} {
		env := &Env{Getenv: func(name string) string { return c.vars[name] }}
		if got := env.Colors(c.terminal); got != c.want {
			t.Errorf("terminal %v, variables %v: %t", c.terminal != nil, c.vars, got)
		}
	}
}
