package edit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestAsHarnessesLeaveIt: the files in testdata/left have our entry, and stand as a
// harness leaves them after a session: Codex puts its own tables before the last
// comment of its file. An update changes our entry alone, a removal leaves theirs.
func TestAsHarnessesLeaveIt(t *testing.T) {
	left, err := os.ReadFile(filepath.Join("testdata", "left", "codex.toml"))
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("testdata", "left", "codex.removed.toml"))
	require.NoError(t, err)
	got, err := Remove(TOML, left, codex, Trace{Space: "\n"})
	require.NoError(t, err)
	if string(got) != string(want) {
		t.Errorf("removed, it is\n%s\nwant\n%s", got, want)
	}
	small := json.RawMessage(`{"command":"/new/hubcli"}`)
	updated, err := Replace(TOML, left, codex, small)
	require.NoError(t, err)
	if n := strings.Count(string(updated), "hubcli mcp_servers.hub"); n != 2 {
		t.Errorf("updated, it has %d marks:\n%s", n, updated)
	}
	have, _, err := Get(TOML, updated, codex)
	require.NoError(t, err)
	if string(have) != string(small) {
		t.Errorf("updated, the entry is %s", have)
	}
	got, err = Remove(TOML, updated, codex, Trace{Space: "\n"})
	require.NoError(t, err)
	if string(got) != string(want) {
		t.Errorf("updated and removed, it is\n%s\nwant\n%s", got, want)
	}
}
