package identity

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"hubcli/internal/require"
)

// TestBackgroundsAreKept: a session is found by its agent, and forgotten only as the one that it was.
func TestBackgroundsAreKept(t *testing.T) {
	b := BackgroundsOf(t.TempDir())
	if got := b.All(); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	first, second := &Background{AgentID: "oak", PID: 1, Began: "a"}, &Background{AgentID: "fern", PID: 2, Began: "b", Secret: "s"}
	require.NoError(t, b.Store(first))
	require.NoError(t, b.Store(second))
	if got := b.All(); len(got) != 2 || got[0] != *second || got[1] != *first {
		t.Errorf("then: %v", got)
	}
	again := *first
	again.Began = "c" // another process with the same number
	require.NoError(t, b.Store(&again))
	require.NoError(t, b.Forget(first))
	if got, found := b.Load("oak"); !found || got != again {
		t.Errorf("the session of another process was forgotten: %v", got)
	}
	require.NoError(t, b.Forget(&again))
	require.NoError(t, b.Forget(&again))
	if _, found := b.Load("oak"); found {
		t.Error("it is not forgotten")
	}
}

// TestDamagedBackgroundsCountAsNone: a note counts only under the name of its agent, and only
// if nobody else could have written it.
func TestDamagedBackgroundsCountAsNone(t *testing.T) {
	b := BackgroundsOf(t.TempDir())
	require.NoError(t, b.Store(&Background{AgentID: "fern"}))
	path := b.path("fern", ".json")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.Dir, "other.json"), whole, 0o600))
	if got := b.All(); len(got) != 1 {
		t.Errorf("a copy counts: %v", got)
	}
	for _, text := range []string{"", "{", `{"agent_id":"operator"}`, `{"agent_id":"../x"}`, `{"agent_id":"oak"}`, "[1]"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if got, found := b.Load("fern"); found {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestLogsBeginAnew: each session has an empty file, and old ones go.
func TestLogsBeginAnew(t *testing.T) {
	b := BackgroundsOf(t.TempDir())
	old, err := b.OpenLog("oak")
	require.NoError(t, err)
	require.NoError(t, old.Close())
	past := time.Now().Add(-2 * logKept)
	require.NoError(t, os.Chtimes(old.Name(), past, past))
	for range 2 {
		f, err := b.OpenLog("fern")
		require.NoError(t, err)
		info, err := f.Stat()
		require.NoError(t, err)
		if info.Size() != 0 {
			t.Errorf("it begins with %d bytes", info.Size())
		}
		_, err = f.WriteString("said")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	if _, err := os.Stat(old.Name()); !os.IsNotExist(err) {
		t.Errorf("the old one: %v", err)
	}
}
