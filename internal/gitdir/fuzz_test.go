package gitdir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// FuzzPointer: whatever stands in a file named .git, it names one clean absolute path, or none.
func FuzzPointer(f *testing.F) {
	for _, s := range []string{"gitdir: /repo/.git/worktrees/a\n", "gitdir: ../x", "gitdir:", "gitdir: a\nb", "gitdir: a\x00b", "gitdir:    \r\n", "GITDIR: /x", strings.Repeat("a", maxPointer+1)} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	file := filepath.Join(dir, ".git")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(file, text, 0o600))
		path, ok := pointer(file, "gitdir:", dir)
		if !ok {
			return
		}
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsAny(path, "\x00\r\n") {
			t.Errorf("%q is read as the path %q", text, path)
		}
		if len(text) > maxPointer || !bytes.HasPrefix(text, []byte("gitdir:")) {
			t.Errorf("%.40q is read as a pointer", text)
		}
	})
}
