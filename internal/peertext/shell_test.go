package peertext

import "testing"

func TestShell(t *testing.T) {
	for in, want := range map[string]string{
		"dev-a": "dev-a", "http://127.0.0.1:7001": "http://127.0.0.1:7001", "": "''", "a b": "'a b'",
		"$(rm -rf x)": "'$(rm -rf x)'", "it's": `'it'\''s'`, "a;b": "'a;b'", "tasks-complete:1,2": "tasks-complete:1,2",
	} {
		if got := Shell(in); got != want {
			t.Errorf("Shell(%q) = %s, want %s", in, got, want)
		}
	}
}
