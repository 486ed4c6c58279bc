package main

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"hubcli/persistence"
)

func TestCommitOfABuild(t *testing.T) {
	const hash = "7996f202b78ac95eda17358ec52e46b8d8dfbe39"
	for name, c := range map[string]struct {
		module   string
		settings []debug.BuildSetting
		want     string
	}{
		"built without a repository": {module: "(devel)"},
		"built in a clean repository": {
			settings: []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "false"}},
			want:     "7996f202b78a",
		},
		"built in a changed repository": {
			settings: []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}},
			want:     "7996f202b78a.dirty",
		},
		"installed at a commit":          {module: "v0.0.0-20261122185227-7996f202b78a", want: "7996f202b78a"},
		"installed after a release":      {module: "v0.2.1-0.20261122185227-7996f202b78a", want: "7996f202b78a"},
		"installed at a release":         {module: "v0.2.0"},
		"installed at a release to come": {module: "v0.2.0-rc-1"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := commitOf(info); got != c.want {
			t.Errorf("%s: commit %q, want %q", name, got, c.want)
		}
	}
}

// TestVersionNamesTheCommit: what the release command hands to the linker reaches
// the user.
func TestVersionNamesTheCommit(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "hubcli.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-X main.commit=0123456789ab", "-o", exe, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	say := exec.CommandContext(t.Context(), exe, "--version")
	say.Env = append(say.Environ(), "HUB_DATA_ROOT="+filepath.Join(t.TempDir(), "none"))
	out, err := say.Output()
	want := "hubcli " + strings.TrimSpace(release) + "+0123456789ab\nstores: up to format " + strconv.Itoa(persistence.LatestFormat()) + "\n"
	if err != nil || string(out) != want {
		t.Errorf("hubcli --version prints %q (%v), want %q", out, err, want)
	}
}
