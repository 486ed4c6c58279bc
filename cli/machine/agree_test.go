package machine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"hubcli/cli/opt"
	"hubcli/cli/term"
)

// TestAnswers: y and yes go on; everything else, also a bare Enter and an end of
// stdin, changes nothing. What deletes a store still takes the whole word.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		typed     string
		plan, all bool // whether a plan, and the deletion of a store, goes on
	}{
		{"y\n", true, false},
		{"Y\n", true, false},
		{" yes \n", true, true},
		{"YES\n", true, true},
		{"y", true, false},
		{"\n", false, false},
		{"", false, false},
		{"n\n", false, false},
		{"yep\n", false, false},
		{"no, yes\n", false, false},
	} {
		var said bytes.Buffer
		env := &term.Env{
			Stdin: strings.NewReader(c.typed), Stderr: &said, Getenv: func(string) string { return "" },
			Terminal: func() bool { return true }, StderrTerminal: func() bool { return true },
		}
		err := opt.Agree(context.Background(), env, "--- a\n+\x1b[2J\nGo on?")
		var no *term.Failure
		if (err == nil) != c.plan || err != nil && (!errors.As(err, &no) || no.Exit != term.ExitRefused) {
			t.Errorf("%q to a plan: %v", c.typed, err)
		}
		if want := "\x1b[1m--- a\x1b[0m\n\x1b[32m+\\x1b[2J\x1b[0m\nGo on? [y/N] "; said.String() != want {
			t.Errorf("asked %q, want %q", said.String(), want)
		}
		env.Stdin = strings.NewReader(c.typed)
		if err := confirm(context.Background(), env, "Delete?", "nothing was deleted"); (err == nil) != c.all {
			t.Errorf("%q to a deletion: %v", c.typed, err)
		}
	}
}
