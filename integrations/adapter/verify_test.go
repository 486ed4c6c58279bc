package adapter

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestLaunchOf: reading an entry of any shape, or of a file of the hub's own,
// returns what the hub wrote.
func TestLaunchOf(t *testing.T) {
	for i := range rows() {
		for _, scope := range rows()[i].scopes() {
			r := newRig(t)
			r.config.BaseURL, r.config.DataRoot = "http://127.0.0.1:7001", "/data"
			h := rows()[i].harness
			r.must(h, hub.AdapterInstall, r.input(scope))
			_, s, owner, err := r.where(h, r.input(scope))
			require.NoError(t, err)
			entry, err := r.today()
			all, err2 := r.wants(s, owner, entry, keepGrant)
			require.NoError(t, errors.Join(err, err2))
			for _, w := range all {
				if w.part != hub.PartMCP {
					continue
				}
				got, err := launchOf(w.entries[len(w.entries)-1].Value)
				if err != nil || got.command != r.self || got.args[0] != "mcp" || !slices.Contains(got.args, "http://127.0.0.1:7001") ||
					!maps.Equal(got.env, map[string]string{"HUB_DATA_ROOT": "/data"}) {
					t.Errorf("%s %s: %+v, %v", h, scope, got, err)
				}
			}
		}
	}
	for _, bad := range []string{`{}`, `{"command": 7}`, `{"command": []}`, `[]`, `"{"`, `"{}"`} {
		if got, err := launchOf([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// TestEnvironment: a trial gets the variables that every harness passes on, and no more.
func TestEnvironment(t *testing.T) {
	vars := map[string]string{"HOME": "/h", "PATH": "/bin", "API_TOKEN": "secret", "HUB_AGENT": "me", "LANG": ""}
	got := environment(func(name string) string { return vars[name] }, map[string]string{"HUB_DATA_ROOT": "/d", "PATH": "/own"})
	if want := []string{"HOME=/h", "HUB_DATA_ROOT=/d", "PATH=/own"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAnswers: the answers of hooks that harnesses accept, and those that they
// refuse.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		harness hub.Harness
		got     answered
		nonce   string
		ok      bool
	}{
		{hub.HarnessCodex, answered{stdout: "{}"}, "", true},
		{hub.HarnessCodex, answered{}, "", true},
		{hub.HarnessCodex, answered{stdout: "hello"}, "", false},
		{hub.HarnessCodex, answered{stdout: `[1]`}, "", false},
		{hub.HarnessCodex, answered{exit: 1}, "", false},
		{hub.HarnessCodex, answered{stdout: `{"decision":"block","reason":"canary n1"}`}, "n1", true},
		{hub.HarnessCodex, answered{stdout: `{}`}, "n1", false},
		{hub.HarnessCodex, answered{exit: 2, stderr: "n1"}, "n1", false},
		{hub.HarnessKimi, answered{exit: 2, stderr: "canary n1"}, "n1", true},
		{hub.HarnessKimi, answered{exit: 2, stderr: "n1"}, "", false},
		{hub.HarnessKimi, answered{stdout: "you are x"}, "", true},
	} {
		if err := c.got.check(c.harness, c.nonce); (err == nil) != c.ok {
			t.Errorf("%s %+v for %q: %v", c.harness, c.got, c.nonce, err)
		}
	}
}

// TestHookLinesNameTheDataRoot: only if it is not the default, because Codex
// asks its user again about each changed line.
func TestHookLinesNameTheDataRoot(t *testing.T) {
	for _, root := range []string{"", "/data", "/srv/it's a \"$HOME\" `x`"} {
		for i := range rows() {
			for _, scope := range rows()[i].scopes() {
				h, r := rows()[i].harness, newRig(t)
				if h == hub.HarnessOpenCode {
					continue // its plugin hands over the environment
				}
				r.config.DataRoot = root
				out := filepath.Join(r.home, "args")
				r.write(r.self, "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done >"+out+"\n")
				r.must(h, hub.AdapterInstall, r.input(scope))
				_, s, owner, err := r.where(h, r.input(scope))
				entry, err2 := r.today()
				all, err3 := r.wants(s, owner, entry, keepGrant)
				require.NoError(t, errors.Join(err, err2, err3))
				for _, w := range all {
					if w.part != hub.PartHooks {
						continue
					}
					for _, e := range w.entries {
						for _, line := range linesOf(e.Value, eventStop) {
							require.NoError(t, exec.Command("/bin/sh", "-c", line).Run())
							got := r.read(out)
							if want := "--data-root\n" + root + "\n"; strings.HasSuffix(got, want) != (root != "") || strings.Contains(got, "data-root") != (root != "") {
								t.Errorf("%s %s: %s calls with\n%s", h, scope, line, got)
							}
						}
					}
				}
			}
		}
	}
	e := Entry{Command: `C:\hub\hubcli.exe`, DataRoot: `D:\the data`, GOOS: "windows"}
	if got, want := e.command(eventStop, hub.HarnessCodex), `C:\hub\hubcli.exe hook stop --harness codex --data-root "D:/the data"`; got != want {
		t.Errorf("on Windows: %s, want %s", got, want)
	}
}

// checks returns the checks of a verification, by name.
func checks(v hub.AdapterVerification) map[string]hub.AdapterCheck {
	found := map[string]hub.AdapterCheck{}
	for _, c := range v.Checks {
		found[c.Check] = c
	}
	return found
}

// TestNothingForeignIsRun: a changed entry or hook is reported and not started.
func TestNothingForeignIsRun(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	r.must(hub.HarnessKiro, hub.AdapterInstall, in)
	evil, mark := filepath.Join(r.home, "evil"), filepath.Join(r.home, "mark")
	r.write(evil, "#!/bin/sh\ntouch "+mark+"\n")
	require.NoError(t, os.Chmod(evil, 0o755))
	for _, name := range []string{".kiro/settings/mcp.json", ".kiro/hooks/hubcli.json"} {
		path := filepath.Join(r.home, name)
		r.write(path, strings.ReplaceAll(r.read(path), r.self, evil))
	}
	v, err := r.VerifyAdapter(context.Background(), hub.HarnessKiro, hub.AdapterInput{})
	require.NoError(t, err)
	got := checks(v)
	for _, name := range []string{"mcp in place", "hooks in place"} {
		if c := got[name]; c.Status != hub.CheckFailed || c.Fix != "hubcli adapter repair kiro" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if v.OK || exists(mark) {
		t.Errorf("ok %v, run %v", v.OK, exists(mark))
	}
}

// TestTrialEndsWhatItStarts: a trial also ends the processes that the entry
// started.
func TestTrialEndsWhatItStarts(t *testing.T) {
	r := newRig(t)
	pid := filepath.Join(r.home, "pid")
	r.write(r.self, "#!/bin/sh\nsleep 600 &\necho $! >"+pid+"\necho oops >&2\nexit 1\n")
	r.must(hub.HarnessAmp, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	v, err := r.VerifyAdapter(context.Background(), hub.HarnessAmp, hub.AdapterInput{})
	require.NoError(t, err)
	if c := checks(v)["bridge"]; c.Status != hub.CheckFailed || !strings.Contains(c.Detail, "oops") {
		t.Errorf("bridge: %+v", c)
	}
	stat := "/proc/" + strings.TrimSpace(r.read(pid)) + "/stat"
	require.Eventually(t, "the end of the process", func() bool {
		b, err := os.ReadFile(stat)
		return err != nil || bytes.Contains(b, []byte(") Z "))
	})
}

// TestEnsure: it changes only detected harnesses, only for the user, and no
// entry that somebody else has changed.
func TestEnsure(t *testing.T) {
	r := newRig(t)
	var log bytes.Buffer
	r.config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	const foreign = `{"mcpServers": {"hub": {"command": "mine"}}}`
	r.write(filepath.Join(r.home, ".cursor/mcp.json"), foreign)
	r.write(filepath.Join(r.home, ".qwen/settings.json"), "{")
	r.write(filepath.Join(r.home, ".codex/config.toml"), "# mine\n")
	r.Ensure(context.Background())
	for h, want := range map[hub.Harness]string{
		hub.HarnessCodex:      "installed installed unsupported",
		hub.HarnessCursor:     "conflict installed unsupported",
		hub.HarnessQwenCode:   "unreadable unreadable unsupported",
		hub.HarnessClaudeCode: "absent absent unsupported",
	} {
		if got := r.statesOf(h, r.input(hub.AdapterGlobal)); got != want {
			t.Errorf("%s: %s, want %s", h, got, want)
		}
	}
	if r.read(filepath.Join(r.home, ".cursor/mcp.json")) != foreign || r.read(filepath.Join(r.home, ".qwen/settings.json")) != "{" {
		t.Error("a foreign entry was changed")
	}
	if s := log.String(); strings.Count(s, "msg=adapter ") != 3 || !strings.Contains(s, "config.toml") {
		t.Errorf("log:\n%s", s)
	}
	installed := r.tree()
	hooks := filepath.Join(r.home, ".codex/hooks.json")
	changed := strings.Replace(installed[".codex/hooks.json"], `"timeout": 5`, `"timeout": 9`, 1)
	r.write(hooks, changed)
	r.Ensure(context.Background())
	if got := r.read(hooks); got != changed {
		t.Errorf("a drifted entry was overwritten: %s", got)
	}
	r.write(hooks, installed[".codex/hooks.json"])
	moved := filepath.Join(r.home, "bin", "moved", "hubcli")
	r.write(moved, "#!/bin/sh\n")
	require.NoError(t, errors.Join(os.Chmod(moved, 0o755), os.Remove(r.self)))
	r.self = moved
	r.Ensure(context.Background())
	if got := r.read(hooks); strings.Count(got, moved) != 7 {
		t.Errorf("a moved entry was not rewritten: %s", got)
	}
}
