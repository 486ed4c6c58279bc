package list

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/cli/term"
	"hubcli/internal/peertext"
	"hubcli/internal/require"
)

// TestFrame: a frame fits its screen, whatever there is to show, and is drawn over the
// one before without clearing the screen first.
func TestFrame(t *testing.T) {
	s := term.Screen{Width: 20, Height: 4}
	got := frame("title", []string{"A", "1", "2", "3", "4"}, s)
	want := "\x1b[?2026h\x1b[Htitle\x1b[K\r\nA\x1b[K\r\n1\x1b[K\r\nand 3 more\x1b[K\x1b[J\x1b[?2026l"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := frame(strings.Repeat("t", 40), []string{strings.Repeat("x", 40)}, s); strings.Contains(got, strings.Repeat("x", 20)) || strings.Contains(got, strings.Repeat("t", 20)) {
		t.Errorf("too wide: %q", got)
	}
	for height := range 5 {
		if lines := strings.Count(frame("t", make([]string, 9), term.Screen{Width: 9, Height: height}), "\n") + 1; lines > max(height, 2) {
			t.Errorf("%d lines on a screen of %d", lines, height)
		}
	}
}

// TestWatch looks at once and then every so often, goes on while the hub is away, fails
// with any other error, and ends without one.
func TestWatch(t *testing.T) {
	away := &term.Failure{Exit: term.ExitUnreachable, Sentence: "no hub answers"}
	broken := errors.New("broken")
	for _, c := range []struct {
		what     string
		terminal bool
		looks    []error
		want     error
		shown    int
		note     string
	}{
		{"it is interrupted", false, []error{nil, nil, nil}, nil, 3, ""},
		{"the hub goes away", false, []error{nil, away, nil}, nil, 2, "hubcli: no hub answers\n"},
		{"the hub is away from the first", false, []error{away}, away, 0, ""},
		{"it fails later", false, []error{nil, broken}, broken, 1, ""},
		{"on a terminal", true, []error{nil, away, nil}, nil, 3, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var out, note bytes.Buffer
				env := &term.Env{Stdout: &out, Stderr: &note, Now: time.Now, Getenv: func(string) string { return "" }, StdoutTerminal: func() bool { return c.terminal }}
				l := &Listing{color: term.ColorNever, every: 2 * time.Second}
				began, n := time.Now(), 0
				err := l.repeat(ctx, env, "hubcli agents", func() (Found, error) {
					if n++; n == len(c.looks) {
						time.AfterFunc(time.Second, func() { cancel(term.ErrInterrupted) })
					}
					table := term.NewTable("none", "AGENT")
					table.Add("dev-a")
					return Found{Text: table}, c.looks[n-1]
				})
				if !errors.Is(err, c.want) || strings.Count(out.String(), "dev-a") != c.shown || note.String() != c.note {
					t.Errorf("ended with %v, shown %q, noted %q", err, out.String(), note.String())
				}
				if took := time.Since(began); c.want == nil && took != time.Duration(len(c.looks)-1)*l.every+time.Second {
					t.Errorf("took %s", took)
				}
				if screens := strings.HasPrefix(out.String(), enterScreen) && strings.HasSuffix(out.String(), leaveScreen); screens != c.terminal {
					t.Errorf("screen taken and given back: %t", screens)
				}
			})
		})
	}
}

// FuzzVisibleJSON: the text means the same, and holds nothing that is hidden.
func FuzzVisibleJSON(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\u202e\u009b\x7f\U000e0041\u2028\"\\")
	f.Fuzz(func(t *testing.T, s string) {
		var plain, safe bytes.Buffer
		require.NoError(t, term.PrintLine(&plain, []string{s}))
		require.NoError(t, term.PrintLine(&safe, []string{s}))
		var want, got []string
		require.NoError(t, json.Unmarshal(plain.Bytes(), &want))
		require.NoError(t, json.Unmarshal(safe.Bytes(), &got))
		if got[0] != want[0] || bytes.ContainsFunc(safe.Bytes(), peertext.Hidden) {
			t.Errorf("%q is %q", want[0], safe.String())
		}
	})
}

// TestEmptyTable says on stderr that there is nothing; stdout stays empty.
func TestEmptyTable(t *testing.T) {
	var out, err bytes.Buffer
	require.NoError(t, new(Listing).Print(&term.Env{Stdout: &out, Stderr: &err}, term.NewTable("there is no such thing", "A")))
	if got := out.String() + err.String(); got != "hubcli: there is no such thing\n" {
		t.Error(got)
	}
}
