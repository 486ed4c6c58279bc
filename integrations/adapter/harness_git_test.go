package adapter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// git runs Git in the project.
func (r *rig) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Dir = r.shop
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestHookInTheWorkTree: a team keeps its hooks in the repository. What the adapter writes
// there names nothing of this machine, finds hubcli by PATH, and lets commits pass without
// it. The plan says who gets it. In a folder that Git ignores the hook names its executable.
func TestHookInTheWorkTree(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(r *rig)
		shared  bool
	}{
		"a tracked hook": {func(r *rig) {
			r.write(filepath.Join(r.shop, ".githooks", "pre-commit"), "#!/bin/sh\ntrue\n")
			require.NoError(t, os.Chmod(filepath.Join(r.shop, ".githooks", "pre-commit"), 0o755))
			r.git("add", ".")
			r.git("commit", "-qm", "x")
		}, true},
		"a new hook": {func(*rig) {}, true},
		"an ignored folder": {func(r *rig) {
			r.write(filepath.Join(r.shop, ".githooks", ".gitignore"), "*\n")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			in := r.input(hub.AdapterProject)
			c.prepare(r)
			r.git("config", "core.hooksPath", ".githooks")
			r.git("config", "core.fsmonitor", filepath.Join(r.home, "watcher"))
			r.write(filepath.Join(r.home, "watcher"), "#!/bin/sh\ntouch "+filepath.Join(r.home, "watched")+"\n")
			require.NoError(t, os.Chmod(filepath.Join(r.home, "watcher"), 0o755))
			before := r.tree()
			hook := filepath.Join(r.shop, ".githooks", "pre-commit")
			plan, err := r.PreviewAdapter(t.Context(), hub.HarnessGit, hub.AdapterInstall, in)
			require.NoError(t, err)
			r.must(hub.HarnessGit, hub.AdapterInstall, in)
			written := r.read(hook)
			if got := !strings.Contains(written, r.home); got != c.shared {
				t.Errorf("without paths: %t, want %t\n%s", got, c.shared, written)
			}
			if got := strings.Contains(plan.Prompt, "everybody gets the hook"); got != c.shared {
				t.Errorf("the plan says so: %t\n%s", got, plan.Prompt)
			}
			if got := r.statesOf(hub.HarnessGit, in); got != "unsupported installed unsupported" {
				t.Errorf("states: %s", got)
			}
			if c.shared {
				r.runs(hook, "/usr/bin:/bin", 0)
				r.write(filepath.Join(r.home, "theirs", "hubcli"), "#!/bin/sh\ntest \"$1 $2\" != 'hook before-commit'\n")
				require.NoError(t, os.Chmod(filepath.Join(r.home, "theirs", "hubcli"), 0o755))
				r.runs(hook, filepath.Join(r.home, "theirs")+":/usr/bin:/bin", 1)
				require.NoError(t, os.RemoveAll(filepath.Join(r.home, "theirs")))
			}
			if exists(filepath.Join(r.home, "watched")) {
				t.Error("a program of the repository was run")
			}
			r.must(hub.HarnessGit, hub.AdapterUninstall, in)
			if got := r.tree(); len(got) != len(before) || got["work/shop/.githooks/pre-commit"] != before["work/shop/.githooks/pre-commit"] {
				t.Errorf("uninstalled: %v, want %v", got, before)
			}
		})
	}
}

// runs runs a hook with a PATH and checks its exit code.
func (r *rig) runs(hook, path string, want int) {
	r.t.Helper()
	cmd := exec.Command("/bin/sh", hook)
	cmd.Env = []string{"PATH=" + path}
	_ = cmd.Run() // the exit code tells
	if got := cmd.ProcessState.ExitCode(); got != want {
		r.t.Errorf("with PATH %s the hook ends with %d, want %d", path, got, want)
	}
}
