package program

import (
	"runtime/debug"
	"testing"
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

// The day of a commit comes with it; a build that knows no commit says so.
func TestDateOfABuild(t *testing.T) {
	for name, c := range map[string]struct {
		module   string
		settings []debug.BuildSetting
		want     string
	}{
		"built without a repository": {module: "(devel)"},
		"built in a repository":      {settings: []debug.BuildSetting{{Key: "vcs.time", Value: "2026-11-22T18:52:27Z"}}, want: "2026-11-22"},
		"installed at a commit":      {module: "v0.0.0-20261122185227-7996f202b78a", want: "2026-11-22"},
		"installed after a release":  {module: "v0.2.1-0.20261122185227-7996f202b78a", want: "2026-11-22"},
		"installed at a release":     {module: "v0.2.0"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := dateOf(info); got != c.want {
			t.Errorf("%s: of %q, want %q", name, got, c.want)
		}
	}
	before, day := commit, date
	defer func() { commit, date = before, day }()
	commit, date = "7996f202b78a", "2026-11-22"
	if got := Built(); got != "from commit 7996f202b78a of 2026-11-22" {
		t.Errorf("a release says %q", got)
	}
	if date = ""; Built() != "from commit 7996f202b78a" {
		t.Errorf("without a day it says %q", Built())
	}
}
