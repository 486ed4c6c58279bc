package mcp

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/osfile"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestLocksMeetInTheFile: however two agents of a project name a file, one lock is
// held; files of two projects that are named alike are two.
func TestLocksMeetInTheFile(t *testing.T) {
	h, dir, other := testhub.Start(t), t.TempDir(), t.TempDir()
	for _, at := range []string{filepath.Join(dir, "src"), filepath.Join(other, "src")} {
		require.NoError(t, os.Mkdir(at, 0o755))
	}
	for to, link := range map[string]string{"src": "lib", "src/new.go": "new.go"} { // the second leads to nothing yet
		require.NoError(t, os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)))
	}
	a, b, c := bridgeTo(t, h, in(dir, "a")), bridgeTo(t, h, in(dir, "b")), bridgeTo(t, h, in(other, "c"))
	for _, s := range []struct{ first, second string }{
		{"src/a.go", filepath.Join(dir, "src", "a.go")},
		{"./src//a.go", `src\a.go`},
		{"lib/a.go", "src/x/../a.go"},
		{"new.go", "src/new.go"},
		{"lib/deep/er/a.go", filepath.Join(dir, "src", "deep", "er", "a.go")},
	} {
		var mine, theirs, far granted
		a.must("hub_lock", args{"file_path": s.first}, &mine)
		b.must("hub_lock", args{"file_path": s.second}, &theirs)
		if c.must("hub_lock", args{"file_path": "src/a.go"}, &far); !mine.Acquired || theirs.Acquired || !far.Acquired || !filepath.IsAbs(mine.Key) {
			t.Errorf("%s and %s: %+v, %+v, in the other project %+v", s.first, s.second, mine, theirs, far)
		}
		a.must("hub_unlock", args{"file_path": s.second}, nil)
	}
	// What was taken under the name as it is written is given back all the same.
	if _, err := a.hub.Lock(context.Background(), hub.LockInput{FilePath: "src/old.go", AgentID: "a"}); err != nil {
		t.Fatal(err)
	}
	a.must("hub_unlock", args{"file_path": "src/old.go", "idempotency_key": "k"}, nil)
	if said := a.refused("hub_unlock", args{"file_path": "src/old.go"}); !strings.Contains(said, "hub_lock") {
		t.Errorf("what nobody holds: %q", said)
	}
}

// TestLocksFollowTheWorkTree: a session that has moved into another work tree of Git, as its hooks
// tell, means the files there; one that is only in another folder of its work tree does not.
func TestLocksFollowTheWorkTree(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	dir := osfile.RealPath(t.TempDir())
	tree := filepath.Join(dir, ".claude", "worktrees", "fix")
	for _, at := range []string{filepath.Join(dir, ".git"), filepath.Join(dir, "web", "src"), filepath.Join(tree, "web", "src")} {
		require.NoError(t, os.MkdirAll(at, 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: ../../../.git/worktrees/fix\n"), 0o600))
	project := filepath.Join(dir, "web")
	me := bridgeTo(t, h, func(c *Config) {
		c.Agent, c.DataRoot, c.Harness = "me", root, string(hub.HarnessClaudeCode)
		c.Getenv = func(name string) string {
			return map[string]string{"CLAUDE_PROJECT_DIR": project, "CLAUDE_CODE_SESSION_ID": "s1"}[name]
		}
	})
	sessions := identity.SessionsOf(root)
	me.must("hub_start", nil, nil)
	require.NoError(t, sessions.Replace("s1", identity.Binding{AgentID: "me", BaseURL: h.URL}))
	for _, c := range []struct{ now, want string }{
		{"", project},
		{filepath.Join(project, "src"), project},
		{filepath.Join(tree, "web", "src"), filepath.Join(tree, "web")},
		{tree, filepath.Join(tree, "web")},
		{project, project},
	} {
		if c.now != "" {
			require.NoError(t, sessions.Place("s1", c.now))
		}
		var got granted
		me.must("hub_lock", args{"file_path": "src/a.go"}, &got)
		if got.Key != filepath.Join(c.want, "src", "a.go") {
			t.Errorf("in %s it locks %s, want a file in %s", c.now, got.Key, c.want)
		}
	}
	if said := me.refused("hub_lock", args{"file_path": `C:\repo\a.go`}); runtime.GOOS != "windows" && !strings.Contains(said, "has a drive") {
		t.Errorf("a path of another system: %s", said)
	}
}

// TestReplayedClaimSaysWhatIsTrue: a claim that was released since is not said to be
// held when its call is repeated.
func TestReplayedClaimSaysWhatIsTrue(t *testing.T) {
	me := bridgeTo(t, testhub.Start(t), nil)
	for take, back := range map[string]string{"hub_claim": "hub_release", "hub_lock": "hub_unlock"} {
		name := map[string]string{"hub_claim": "claim_key", "hub_lock": "file_path"}[take]
		me.must(take, args{name: "/w", "idempotency_key": "k"}, nil)
		me.must(back, args{name: "/w"}, nil)
		res := me.try(take, args{name: "/w", "idempotency_key": "k"})
		if said := text(res); res.IsError || strings.Contains(said, "me has") || !strings.Contains(said, "has ended since") {
			t.Errorf("%s once more says %q", take, said)
		}
		var again granted
		if me.must(take, args{name: "/w"}, &again); !again.Acquired {
			t.Errorf("%s without the key: %+v", take, again)
		}
	}
}
