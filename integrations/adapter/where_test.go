package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestTwoInstallsAtOnce: of two processes, both succeed or are told to preview
// again, and each entry is there once.
func TestTwoInstallsAtOnce(t *testing.T) {
	r := newRig(t)
	want := newRig(t)
	in := r.input(hub.AdapterGlobal)
	want.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	var wg sync.WaitGroup
	for range 4 {
		other := &rig{Adapters: r.another(), t: t, home: r.home}
		wg.Go(func() {
			_, err := other.do(hub.HarnessClaudeCode, hub.AdapterInstall, in)
			var e *hub.Error
			if err != nil && (!errors.As(err, &e) || e.Code != hub.CodePlanChanged && e.Code != hub.CodeAdapterBusy) {
				t.Errorf("install: %v", err)
			}
		})
	}
	wg.Wait()
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	for name, content := range want.tree() {
		if got := strings.ReplaceAll(r.tree()[name], r.home, want.home); got != content {
			t.Errorf("%s: %s, want %s", name, got, content)
		}
	}
}

// TestWhere: the valid and invalid places.
func TestWhere(t *testing.T) {
	r := newRig(t)
	r.write(filepath.Join(r.home, "file"), "")
	r.link(r.shop, filepath.Join(r.home, "link"))
	for _, c := range []struct {
		in   hub.AdapterInput
		code hub.Code
	}{
		{hub.AdapterInput{Scope: hub.AdapterProject}, hub.CodeInvalid},
		{hub.AdapterInput{Scope: hub.AdapterProject, Path: "work/shop"}, hub.CodeInvalid},
		{hub.AdapterInput{Scope: hub.AdapterProject, Path: r.home}, hub.CodeInvalid},
		{hub.AdapterInput{Path: filepath.Join(r.home, "nowhere")}, hub.CodePathNotFound},
		{hub.AdapterInput{Path: filepath.Join(r.home, "file")}, hub.CodePathNotFound},
	} {
		r.refused(c.code, hub.HarnessCodex, hub.AdapterInstall, c.in)
	}
	done := r.must(hub.HarnessCodex, hub.AdapterInstall, hub.AdapterInput{Path: filepath.Join(r.home, "link")})
	if done.Place.Path != r.shop || done.Place.Scope != hub.AdapterProject {
		t.Errorf("through a link: %+v", done.Place)
	}
	r.refused(hub.CodeAdapterNotFound, "emacs", hub.AdapterInstall, hub.AdapterInput{})
}

// TestExecutable: it returns the lasting path.
func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	file := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)))
		return path
	}
	versioned, plain, built := file("cellar", "1.2", "hubcli"), file("plain", "hubcli"), file("go-build123", "b001", "exe", "hubcli")
	shim := filepath.Join(dir, "bin", "hubcli")
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(shim), 0o755), os.Symlink(versioned, shim)))
	onPath := func(path string) func(string) (string, error) {
		return func(string) (string, error) {
			if path == "" {
				return "", errors.New("none")
			}
			return path, nil
		}
	}
	for _, c := range []struct{ name, self, path, want string }{
		{"the shim, not what it leads to", versioned, shim, shim},
		{"nothing on PATH", plain, "", plain},
		{"another on PATH", plain, shim, plain},
		{"replaced while it runs", plain + " (deleted)", "", plain},
		{"replaced, with a shim", filepath.Join(dir, "cellar", "1.1", "hubcli") + " (deleted)", shim, shim},
		{"gone", filepath.Join(dir, "cellar", "1.1", "hubcli") + " (deleted)", "", ""},
		{"go run", built, "", ""},
		{"go run with an installed one", built, shim, ""},
		{"relative", "hubcli", "", ""},
	} {
		got, err := Executable(c.self, onPath(c.path))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestProjectThatIsGone: a deleted project is reported, is no failure, and can
// be forgotten.
func TestProjectThatIsGone(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterProject)
	r.must(hub.HarnessKiro, hub.AdapterInstall, in)
	r.must(hub.HarnessCodex, hub.AdapterInstall, in)
	require.NoError(t, os.RemoveAll(r.shop))
	row, err := r.Adapter(t.Context(), hub.HarnessKiro, hub.AdapterQuery{})
	if err != nil || len(row.Places) != 2 || !row.Places[1].Gone || row.Places[1].Parts[0].State != hub.AdapterUnreadable {
		t.Errorf("%+v, %v", row.Places, err)
	}
	v, err := r.VerifyAdapter(t.Context(), hub.HarnessKiro, hub.AdapterInput{})
	if err != nil || !v.OK || v.Checks[0].Status != hub.CheckSkipped || !strings.Contains(v.Checks[0].Detail, "uninstall kiro --scope project --path "+r.shop) {
		t.Errorf("%+v, %v", v, err)
	}
	r.refused(hub.CodePathNotFound, hub.HarnessKiro, hub.AdapterInstall, in)
	plan, err := r.PreviewAdapter(t.Context(), hub.HarnessKiro, hub.AdapterUninstall, in)
	if err != nil || len(plan.Files) != 0 || !strings.Contains(plan.Prompt, "the folder is gone") {
		t.Errorf("%+v, %v", plan, err)
	}
	r.link(filepath.Dir(r.shop), filepath.Join(r.home, "link"))
	linked := hub.AdapterInput{Path: filepath.Join(r.home, "link", "shop")}
	if done := r.must(hub.HarnessKiro, hub.AdapterUninstall, linked); !done.Changed {
		t.Error("nothing was forgotten")
	}
	if got := r.statesOf(hub.HarnessKiro, in); got != "" {
		t.Errorf("it is still known: %s", got)
	}
	if got := r.statesOf(hub.HarnessCodex, in); got != "unreadable unreadable unreadable" {
		t.Errorf("another: %s", got)
	}
	r.refused(hub.CodePathNotFound, hub.HarnessKiro, hub.AdapterUninstall, in)
}

// TestOwnFilesAreNoHarness: files that the hub made for one harness in the
// folder of another do not count as the other harness.
func TestOwnFilesAreNoHarness(t *testing.T) {
	r := newRig(t)
	detected := func(h hub.Harness) bool {
		row, err := r.Adapter(t.Context(), h, hub.AdapterQuery{})
		require.NoError(t, err)
		return row.Detected
	}
	r.write(filepath.Join(r.home, ".config/Code/User/settings.json"), "{}")
	r.Ensure(t.Context())
	if got := r.statesOf(hub.HarnessVSCode, r.input(hub.AdapterGlobal)); got != "installed installed unsupported" {
		t.Fatalf("vscode: %s", got)
	}
	for range 2 {
		if detected(hub.HarnessCopilotCLI) || exists(filepath.Join(r.home, ".copilot/mcp-config.json")) {
			t.Fatal("Copilot CLI is detected")
		}
		r.Ensure(t.Context())
	}
	if !detected(hub.HarnessVSCode) {
		t.Error("VS Code is not seen any more")
	}
	r.write(filepath.Join(r.home, ".copilot/config.json"), "{}")
	if !detected(hub.HarnessCopilotCLI) {
		t.Error("Copilot CLI is not seen beside the hub's own files")
	}
}
