package persistence

import (
	"path/filepath"
	"strings"
	"testing"

	"hubcli/persistence/badgerfile"
)

// TestListThatFailsToSync: the sync of the list of tables fails while a table is made or
// merged. Badger deletes the new tables then, and the entry that names them stays in the list.
// The next start must come up with everything.
func TestListThatFailsToSync(t *testing.T) {
	for _, c := range []struct {
		does string
		dir  func(*testing.T) string
	}{
		{"flush", func(t *testing.T) string { return filepath.Join(t.TempDir(), "store") }},
		{"compact", fourTables},
	} {
		t.Run(c.does, func(t *testing.T) {
			t.Parallel()
			dir := c.dir(t)
			cmd := straced(t, c.does, dir, "-P", inBadger(dir, badgerfile.NameManifest), "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1")
			out, err := cmd.Output()
			if err == nil || !strings.Contains(string(out), "failed") {
				t.Fatalf("no Append failed: %v\n%s", err, tailOf(out))
			}
			reopened(t, dir, string(out))
		})
	}
}
