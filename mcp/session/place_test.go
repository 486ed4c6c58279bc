package session

import (
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

// TestBranchOf: the branch is that of the work tree, also of a further one, and nothing that is no
// repository, is damaged or hostile gives one.
func TestBranchOf(t *testing.T) {
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	dir := t.TempDir()
	write(filepath.Join(dir, "main", ".git", "HEAD"), "ref: refs/heads/fix/tax\n")
	write(filepath.Join(dir, "main", ".git", "worktrees", "two", "HEAD"), "ref: refs/heads/two\n")
	write(filepath.Join(dir, "two", ".git"), "gitdir: ../main/.git/worktrees/two\n")
	write(filepath.Join(dir, "detached", ".git", "HEAD"), "4b825dc642cb6eb9a060e54bf8d69288fbee4904\n")
	write(filepath.Join(dir, "large", ".git", "HEAD"), "ref: refs/heads/"+string(make([]byte, headBytes)))
	write(filepath.Join(dir, "odd", ".git"), "hello\n")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty", ".git", "HEAD"), 0o755))
	for name, want := range map[string]string{"main": "fix/tax", "two": "two", "detached": "", "large": "", "odd": "", "empty": "", "nowhere": ""} {
		if got := branchOf(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is on %q, want %q", name, got, want)
		}
	}
}
