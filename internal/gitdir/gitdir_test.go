package gitdir

import (
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

func TestRemotesAreCompared(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{"", ""},
		{"[remote \"origin\"]\n\turl = https://git.example.org/team/shop.git\n", "git.example.org/team/shop"},
		{"[remote \"origin\"]\n\turl = git@Git.Example.org:team/shop\n", "git.example.org/team/shop"},
		{"[remote \"origin\"]\n\tURL = ssh://git@git.example.org:22/team/shop/\n", "git.example.org/team/shop"},
		{"[remote \"origin\"]\n\turl = https://sam:secret@git.example.org/team/shop.git\n", "git.example.org/team/shop"},
		{"[remote \"up\"]\n\turl = https://h/up\n[remote \"origin\"]\n\turl = https://h/o\n", "h/o"},
		{"[remote \"up\"]\n\turl = https://h/up\n[remote \"b\"]\n\turl = https://h/b\n", "h/up"},
		{"[branch \"main\"]\n\turl = https://h/none\n", ""},
		{"[remote \"origin\"]\n\turl = /srv/git/shop.git\n", "/srv/git/shop"},
		{"[remote \"origin\"]\n\turl = ../shop\n", "../shop"},
		{"[remote \"origin\"\n\turl\n=\n", ""},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config"), []byte(c.config), 0o600))
		if got := Remote(dir); got != c.want {
			t.Errorf("%q leads to %q, want %q", c.config, got, c.want)
		}
	}
	if got := Remote(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("no configuration leads to %q", got)
	}
}
