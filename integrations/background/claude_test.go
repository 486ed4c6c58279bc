//go:build unix

package background

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// claude is a stand-in that answers as a script says.
func claude(t *testing.T, script string) *Claude {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "claude")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >> calls\n"+script), 0o700))
	return &Claude{Program: program, Dir: dir, Env: os.Environ()}
}

// TestClaudeSession: the name goes into the settings of the session, a text is no flag, and the process
// is told of.
func TestClaudeSession(t *testing.T) {
	c := claude(t, `case $1 in
--bg) printf 'backgrounded · 6614a526 · ada\n  claude agents  list sessions\n' ;;
agents) echo '[{"id":"x","pid":1},{"id":"6614a526","sessionId":"6614a526-9","pid":42}]' ;;
stop) test "$2" = 6614a526 || { echo "No session matching" >&2; exit 1; } ;;
esac`)
	got, err := c.Start(t.Context(), &ClaudeStart{Name: "ada", Variables: map[string]string{"HUB_AGENT": "ada"}, Args: []string{"--model", "m"}, Resume: "r", Text: "--go"})
	require.NoError(t, err)
	if (got != ClaudeSession{"6614a526", "6614a526-9", 42}) {
		t.Errorf("it is %+v", got)
	}
	require.NoError(t, c.Stop(t.Context(), "6614a526"))
	if err := c.Stop(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "No session matching") {
		t.Errorf("another is stopped: %v", err)
	}
	calls, err := os.ReadFile(filepath.Join(c.Dir, "calls"))
	require.NoError(t, err)
	if want := "--bg --settings {\"env\":{\"HUB_AGENT\":\"ada\"}} --name ada --resume r --model m -- --go\n"; !strings.HasPrefix(string(calls), want) {
		t.Errorf("it was called\n%s", calls)
	}
}

// TestClaudeSaysSomethingElse: what names no session is an error that repeats it.
func TestClaudeSaysSomethingElse(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'log in first' >&2; exit 1": "log in first",
		"echo 'not today'":                "not today",
		"echo 'backgrounded · ; rm'":      "names no session",
	} {
		if _, err := claude(t, script).Start(t.Context(), &ClaudeStart{Name: "ada"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}
