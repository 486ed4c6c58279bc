//go:build unix

package identity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestNothingIsKeptWhereOthersCanWrite: the error says how to mend the folder.
func TestNothingIsKeptWhereOthersCanWrite(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{notesFolder, sessionsFolder} {
		dir := filepath.Join(root, folder)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chmod(dir, 0o777))
	}
	p := processes{}
	at := p.spawn(5, 1, "5")
	leaveErr := NotesOf(root, p.look).Leave(at, Note{AgentID: "a", Harness: hub.HarnessCodex})
	_, claimErr := SessionsOf(root).Claim("s", Binding{AgentID: "a"})
	for _, err := range []error{leaveErr, claimErr, SessionsOf(root).Replace("s", Binding{AgentID: "a"})} {
		if err == nil || !strings.Contains(err.Error(), "chmod 700 "+root) {
			t.Errorf("it says %v", err)
		}
	}
	if found, err := filepath.Glob(filepath.Join(root, "*", "*")); err != nil || len(found) != 0 {
		t.Errorf("left %q, %v", found, err)
	}
}
