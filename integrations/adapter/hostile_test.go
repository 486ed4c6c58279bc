package adapter

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestHostileFiles: no hostile file is changed.
func TestHostileFiles(t *testing.T) {
	outside := t.TempDir()
	for name, prepare := range map[string]func(r *rig, config string){
		"unparsable":                      func(r *rig, config string) { r.write(config, `{"mcpServers": {`) },
		"another type":                    func(r *rig, config string) { r.write(config, `{"mcpServers": []}`) },
		"twice":                           func(r *rig, config string) { r.write(config, `{"mcpServers": {}, "mcpServers": {}}`) },
		"binary":                          func(r *rig, config string) { r.write(config, "\x7fELF\x00\x01") },
		"a folder":                        func(r *rig, config string) { r.write(filepath.Join(config, "x"), "") },
		"a dangling link":                 func(r *rig, config string) { r.link(filepath.Join(r.home, "nowhere", "x.json"), config) },
		"a link into a folder for all":    func(r *rig, config string) { r.link(filepath.Join(outside, "victim.json"), config) },
		"a folder that leads out of home": func(r *rig, config string) { r.link(outside, filepath.Dir(config)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(filepath.Join(outside, "victim.json"), "{}")
			require.NoError(t, os.Chmod(outside, 0o777))
			config := filepath.Join(r.home, ".kiro/settings/mcp.json")
			prepare(r, config)
			before := r.read(filepath.Join(outside, "victim.json"))
			in := r.input(hub.AdapterGlobal)
			if got := r.statesOf(hub.HarnessKiro, in); !strings.HasPrefix(got, "unreadable ") {
				t.Errorf("states: %s", got)
			}
			r.refused(hub.CodeAdapterRefused, hub.HarnessKiro, hub.AdapterInstall, in)
			if exists(filepath.Join(r.home, ".kiro/hooks")) || r.read(filepath.Join(outside, "victim.json")) != before {
				t.Error("something was written")
			}
			if found, _ := filepath.Glob(filepath.Join(outside, "*")); len(found) != 1 {
				t.Errorf("outside: %q", found)
			}
		})
	}
}

// TestSettingsOutOfHome: where settings are a link out of the home folder, the prompt says
// where it leads, and a start of the hub, which asks nobody, leaves them.
func TestSettingsOutOfHome(t *testing.T) {
	r, dotfiles := newRig(t), t.TempDir()
	settings, in := filepath.Join(dotfiles, "settings.json"), r.input(hub.AdapterGlobal)
	r.write(settings, "{}")
	r.link(settings, filepath.Join(r.home, ".claude", "settings.json"))
	r.Ensure(t.Context())
	if got := r.read(settings); got != "{}" {
		t.Errorf("a start of the hub wrote\n%s", got)
	}
	plan, err := r.PreviewAdapter(t.Context(), hub.HarnessClaudeCode, hub.AdapterInstall, in)
	require.NoError(t, err)
	if !strings.Contains(plan.Prompt, "leads to "+settings+", which is changed") {
		t.Errorf("the prompt does not name the file:\n%s", plan.Prompt)
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	if !strings.Contains(r.read(settings), "hubcli") {
		t.Error("the linked file was not changed")
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterUninstall, in)
	if got := r.read(settings); got != "{}" {
		t.Errorf("left is %q", got)
	}
}

func (r *rig) link(to, from string) {
	r.t.Helper()
	require.NoError(r.t, errors.Join(os.MkdirAll(filepath.Dir(from), 0o755), os.Symlink(to, from)))
}

// TestHooksThatCannotBeRead: another file that may hold hooks is read with the
// same checks as a changed file, and an unreadable one does not count as empty.
func TestHooksThatCannotBeRead(t *testing.T) {
	for name, prepare := range map[string]func(r *rig, settings string) error{
		"unparsable": func(r *rig, settings string) error { r.write(settings, `{"hooks": {`); return nil },
		"too large": func(r *rig, settings string) error {
			r.write(settings, "{}")
			return os.Truncate(settings, 400<<20)
		},
		"a link to what is too large": func(r *rig, settings string) error {
			r.write(filepath.Join(r.home, "big"), "")
			r.link(filepath.Join(r.home, "big"), settings)
			return os.Truncate(settings, 400<<20)
		},
		"a pipe": pipe,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			require.NoError(t, prepare(r, filepath.Join(r.home, ".factory/settings.json")))
			in := r.input(hub.AdapterGlobal)
			if got := r.statesOf(hub.HarnessDroid, in); got != "absent unreadable unsupported" {
				t.Errorf("states: %s", got)
			}
			r.refused(hub.CodeAdapterRefused, hub.HarnessDroid, hub.AdapterInstall, in)
			if exists(filepath.Join(r.home, ".factory/hooks.json")) || exists(filepath.Join(r.home, ".factory/mcp.json")) {
				t.Error("something was written")
			}
			r.Ensure(t.Context())
			if got := r.statesOf(hub.HarnessDroid, in); got != "installed unreadable unsupported" {
				t.Errorf("ensured: %s", got)
			}
			r.must(hub.HarnessCursor, hub.AdapterInstall, in)
		})
	}
}

// TestFilesThatHang: a call that meets a hanging file ends in time, and other
// adapters work on.
func TestFilesThatHang(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	r.must(hub.HarnessCursor, hub.AdapterInstall, in)
	look, release := r.config.LookPath, make(chan struct{})
	r.config.LookPath = func(name string) (string, error) {
		if name == "cursor" {
			<-release
		}
		return look(name)
	}
	r.patience = 10 * time.Millisecond
	for range 2 {
		if got := r.statesOf(hub.HarnessCursor, in); got != "unreadable unreadable unsupported" {
			t.Errorf("states: %s", got)
		}
	}
	if n := len(r.under["look cursor"]); n != 1 {
		t.Errorf("%d goroutines wait for the hanging file", n)
	}
	r.patience = time.Hour
	r.must(hub.HarnessKiro, hub.AdapterInstall, in)
	if got := r.statesOf(hub.HarnessKiro, in); got != "installed installed unsupported" {
		t.Errorf("another: %s", got)
	}
	close(release)
	require.Eventually(t, "the end of the look that hung", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.under["look cursor"]) == 0
	})
	if got := r.statesOf(hub.HarnessCursor, in); got != "installed installed unsupported" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestChangeThatNobodyWaitsFor: a change whose caller has gone is not made.
func TestChangeThatNobodyWaitsFor(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	plan, err := r.PreviewAdapter(t.Context(), hub.HarnessCursor, hub.AdapterInstall, in)
	require.NoError(t, err)
	r.changing.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	in.Confirm = plan.Digest
	go func() {
		_, err := r.ChangeAdapter(ctx, hub.HarnessCursor, hub.AdapterInstall, in)
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("it was done during another change")
	}
	r.changing.Unlock()
	if exists(filepath.Join(r.home, ".cursor")) {
		t.Error("something was written")
	}
}

// TestOnlyOursIsRun: a verification never runs an entry that somebody swaps in
// during the trial.
func TestOnlyOursIsRun(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	r.must(hub.HarnessKiro, hub.AdapterInstall, in)
	mark, evil := filepath.Join(r.home, "mark"), filepath.Join(r.home, "evil")
	r.write(evil, "#!/bin/sh\ntouch "+mark+"\n")
	require.NoError(t, os.Chmod(evil, 0o755))
	stop, stopped := make(chan struct{}), make(chan error, 1)
	contents := map[string][2]string{}
	for _, name := range []string{".kiro/settings/mcp.json", ".kiro/hooks/hubcli.json"} {
		at := filepath.Join(r.home, name)
		good := r.read(at)
		contents[at] = [2]string{strings.ReplaceAll(good, r.self, evil), good}
	}
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			for at, turns := range contents {
				for _, content := range turns {
					err = errors.Join(err, os.WriteFile(at+".new", []byte(content), 0o600), os.Rename(at+".new", at))
				}
			}
		}
		stopped <- err
	}()
	tried := 0
	for deadline := time.Now().Add(time.Minute); tried < 40 && time.Now().Before(deadline); {
		v, err := r.VerifyAdapter(t.Context(), hub.HarnessKiro, hub.AdapterInput{})
		require.NoError(t, err)
		if _, ok := checks(v)["hook session-start"]; ok {
			tried++
		}
	}
	close(stop)
	require.NoError(t, <-stopped)
	if tried == 0 {
		t.Error("nothing was ever tried")
	}
	if exists(mark) {
		t.Error("a foreign entry was run")
	}
}

// TestWhoMayWriteTheExecutable: an executable that all users may write is not
// run.
func TestWhoMayWriteTheExecutable(t *testing.T) {
	r := newRig(t)
	r.must(hub.HarnessAmp, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	mark := filepath.Join(r.home, "mark")
	r.write(r.self, "#!/bin/sh\ntouch "+mark+"\n")
	for path, mode := range map[string]os.FileMode{r.self: 0o757, filepath.Dir(r.self): 0o757} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, mode))
		v, err := r.VerifyAdapter(t.Context(), hub.HarnessAmp, hub.AdapterInput{})
		if c := checks(v)["executable"]; err != nil || c.Status != hub.CheckFailed || v.OK || exists(mark) {
			t.Errorf("%s writable: %+v, %v", path, c, err)
		}
		require.NoError(t, os.Chmod(path, info.Mode()))
	}
}

// TestWords: wordsOf and a shell split a line of the hub alike, for any path of
// the executable.
func TestWords(t *testing.T) {
	for _, command := range []string{"/bin/hubcli", "/my hub/hubcli", "/o'hara $(x) `y` ü/hubcli", `/a\b"c/my hub`, "/x/-it's"} {
		e := Entry{Command: command, BaseURL: "http://127.0.0.1:7001", GOOS: "linux"}
		line := e.command(eventStop, hub.HarnessCodex)
		got, err := wordsOf(line, "linux")
		want := []string{command, "hook", "stop", "--harness", "codex", "--base-url", "http://127.0.0.1:7001"}
		if err != nil || strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%s: %q, %v", line, got, err)
		}
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+line).Output()
		if err != nil || string(out) != strings.Join(want, "\x00")+"\x00" {
			t.Errorf("a shell: %q, %v", out, err)
		}
	}
	for _, bad := range []string{"a; b", "a $(b)", "a `b`", "a 'b", `a \`, "a | b", "a\nb", "a > b", "a & b"} {
		if got, err := wordsOf(bad, "linux"); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
	if got, err := wordsOf(`"C:\my hub\hubcli.exe" hook stop`, "windows"); err != nil || got[0] != `C:\my hub\hubcli.exe` || len(got) != 3 {
		t.Errorf("%q, %v", got, err)
	}
}
