package adapter

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// each runs a test for every harness and scope, each on its own machine.
func each(t *testing.T, test func(t *testing.T, r *rig, h *row, in hub.AdapterInput)) {
	for i := range rows() {
		for _, scope := range rows()[i].scopes() {
			t.Run(fmt.Sprintf("%s-%s", rows()[i].harness, scope), func(t *testing.T) {
				r := newRig(t)
				test(t, r, &rows()[i], r.input(scope))
			})
		}
	}
}

// supported reports whether all parts of a setup have a state, and the other
// parts are not supported.
func inState(words, state string) bool {
	list := strings.Fields(words)
	return len(list) == 3 && slices.Contains(list, state) &&
		!slices.ContainsFunc(list, func(w string) bool { return w != state && w != string(hub.AdapterUnsupported) })
}

// TestWhatIsWritten compares the new files of every row with golden files.
func TestWhatIsWritten(t *testing.T) {
	each(t, func(t *testing.T, r *rig, h *row, in hub.AdapterInput) {
		before := r.tree()
		r.must(h.harness, hub.AdapterInstall, in)
		var b strings.Builder
		after := r.tree()
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if _, was := before[name]; !was && !strings.HasSuffix(name, "/") {
				fmt.Fprintf(&b, "-- %s --\n%s\n", name, strings.ReplaceAll(after[name], r.home, "/home/u"))
			}
		}
		golden := filepath.Join("testdata", "rows", fmt.Sprintf("%s-%s.golden", h.harness, in.Scope))
		if *update {
			r.write(golden, b.String())
			return
		}
		if want := r.read(golden); b.String() != want {
			t.Errorf("it wrote\n%s\nwant\n%s", b.String(), want)
		}
	})
}

// TestLifeOfAnAdapter: a second install changes nothing, drift is seen and
// repaired, and an uninstall restores the old state.
func TestLifeOfAnAdapter(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	each(t, func(t *testing.T, r *rig, h *row, in hub.AdapterInput) {
		before := r.tree()
		if got := r.statesOf(h.harness, in); in.Scope == hub.AdapterGlobal && !inState(got, "absent") {
			t.Fatalf("before: %s", got)
		}
		if done := r.must(h.harness, hub.AdapterInstall, in); !done.Changed || len(done.Files) == 0 {
			t.Fatalf("nothing was installed: %+v", done)
		}
		if got := r.statesOf(h.harness, in); !inState(got, "installed") {
			t.Fatalf("after installing: %s", got)
		}
		if got := r.permissionsOf(h.harness, in); got != "installed" && got != "unsupported" {
			t.Fatalf("permissions after installing: %s", got)
		}
		if done := r.must(h.harness, hub.AdapterInstall, in); done.Changed || len(done.Files) != 0 {
			t.Errorf("a second install changed %+v", done.Files)
		}
		installed := r.tree()
		r.drift(installed)
		if got := r.statesOf(h.harness, in); !strings.Contains(got, "drifted") {
			t.Fatalf("after a user's change: %s", got)
		}
		r.refused(hub.CodeAdapterConflict, h.harness, hub.AdapterInstall, in)
		r.must(h.harness, hub.AdapterRepair, in)
		if got := r.tree(); !maps.Equal(got, installed) {
			t.Errorf("repaired: %v, want %v", got, installed)
		}
		r.must(h.harness, hub.AdapterUninstall, in)
		if got := r.tree(); !maps.Equal(got, before) {
			t.Errorf("uninstalled: %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(before)))
		}
		if done := r.must(h.harness, hub.AdapterUninstall, in); done.Changed {
			t.Error("a second uninstall changed something")
		}
	})
}

// drift changes what the hub wrote in every file.
func (r *rig) drift(tree map[string]string) {
	for name, content := range tree {
		changed := strings.NewReplacer("mcp", "mcpx", "hook ", "hook  ", "Working with", "Playing with").Replace(content)
		if strings.Contains(content, r.self) {
			changed = strings.ReplaceAll(content, filepath.Dir(r.self), "/elsewhere")
			// A rule that somebody has changed is another rule, and stays theirs.
			changed = strings.ReplaceAll(changed, "Bash(/elsewhere", "Bash("+filepath.Dir(r.self))
		}
		if content != "" && changed != content {
			r.write(filepath.Join(r.home, name), changed)
		}
	}
}

// TestExecutableMoves: then the entries are outdated, and repair or install
// writes the new path.
func TestExecutableMoves(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	r.must(hub.HarnessCodex, hub.AdapterInstall, in)
	moved := filepath.Join(r.home, "opt", "my hub", "hubcli")
	r.write(moved, "#!/bin/sh\n")
	require.NoError(t, errors.Join(os.Chmod(moved, 0o755), os.Remove(r.self)))
	old := r.self
	r.self = moved
	if got := r.statesOf(hub.HarnessCodex, in); got != "installed* installed* unsupported" {
		t.Errorf("after the move: %s", got)
	}
	r.must(hub.HarnessCodex, hub.AdapterRepair, in)
	all := r.read(filepath.Join(r.home, ".codex/config.toml")) + r.read(filepath.Join(r.home, ".codex/hooks.json"))
	if strings.Contains(all, old) || strings.Count(all, "my hub") != 8 { // the server and seven hooks
		t.Errorf("after the repair:\n%s", all)
	}
	if got := r.statesOf(hub.HarnessCodex, in); got != "installed installed unsupported" {
		t.Errorf("after the repair: %s", got)
	}
	r.must(hub.HarnessCodex, hub.AdapterUninstall, in)
	if exists(filepath.Join(r.home, ".codex")) {
		t.Error("some entries are left")
	}
}

// TestExecutableIsRenamed: hooks with the old name of the executable are found.
func TestExecutableIsRenamed(t *testing.T) {
	for _, h := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessKimi} {
		r := newRig(t)
		in := r.input(hub.AdapterGlobal)
		r.must(h, hub.AdapterInstall, in)
		renamed := filepath.Join(filepath.Dir(r.self), "real")
		require.NoError(t, os.Rename(r.self, renamed))
		r.self = renamed
		if got := r.statesOf(h, in); got != "installed* installed* unsupported" {
			t.Errorf("%s: %s", h, got)
		}
		r.must(h, hub.AdapterRepair, in)
		if got := r.statesOf(h, in); got != "installed installed unsupported" {
			t.Errorf("%s repaired: %s", h, got)
		}
	}
}

// TestAddedVariables: variables that a user added are no drift and stay when
// the entry is rewritten.
func TestAddedVariables(t *testing.T) {
	for h, file := range map[hub.Harness]string{
		hub.HarnessClaudeCode: ".claude.json", hub.HarnessCodex: ".codex/config.toml", hub.HarnessOpenCode: ".config/opencode/opencode.json",
	} {
		r := newRig(t)
		r.config.DataRoot = "/data"
		in, path := r.edits(), filepath.Join(r.home, file)
		r.must(h, hub.AdapterInstall, in)
		add := strings.NewReplacer(`"HUB_DATA_ROOT":`, `"HUB_AGENT": "bob", "HUB_DATA_ROOT":`, "HUB_DATA_ROOT =", "HUB_AGENT = 'bob'\nHUB_DATA_ROOT =")
		r.write(path, add.Replace(r.read(path)))
		if got := r.statesOf(h, in); !strings.Contains(r.read(path), "bob") || got != "installed installed unsupported" {
			t.Errorf("%s: %s\n%s", h, got, r.read(path))
		}
		r.write(path, strings.ReplaceAll(r.read(path), r.self, "/elsewhere"))
		if got := r.statesOf(h, in); got != "drifted installed unsupported" {
			t.Errorf("%s changed: %s", h, got)
		}
		r.must(h, hub.AdapterRepair, in)
		if got := r.read(path); !strings.Contains(got, "bob") || !strings.Contains(got, r.self) {
			t.Errorf("%s repaired:\n%s", h, got)
		}
		r.config.DataRoot = ""
		r.must(h, hub.AdapterInstall, in)
		if got := r.read(path); !strings.Contains(got, "bob") || strings.Contains(got, "HUB_DATA_ROOT") {
			t.Errorf("%s at the default:\n%s", h, got)
		}
		r.must(h, hub.AdapterUninstall, in)
		if exists(path) && strings.Contains(r.read(path), "bob") {
			t.Errorf("%s left:\n%s", h, r.read(path))
		}
	}
}

// TestConfirmation: nothing changes without a confirmation, and only the shown
// changes happen.
func TestConfirmation(t *testing.T) {
	r := newRig(t)
	config := filepath.Join(r.home, ".cursor/mcp.json")
	r.write(config, `{"mcpServers": {"other": {"command": "x", "env": {"API_TOKEN": "s3cret-value-of-somebody"}}}}`)
	before := r.tree()
	ctx, in := context.Background(), hub.AdapterInput{}
	ask := func() *hub.Error {
		t.Helper()
		_, err := r.ChangeAdapter(ctx, hub.HarnessCursor, hub.AdapterInstall, in)
		var e *hub.Error
		if !errors.As(err, &e) {
			t.Fatalf("err = %v", err)
		}
		return e
	}
	first := ask()
	prompt, _ := first.Detail["prompt"].(string)
	preview, err := r.PreviewAdapter(ctx, hub.HarnessCursor, hub.AdapterInstall, in)
	if err != nil || first.Code != hub.CodeConfirmRequired || prompt != preview.Prompt || first.Detail["digest"] != preview.Digest {
		t.Errorf("asked %+v, previewed %+v, %v", first, preview, err)
	}
	for _, part := range []string{"Cursor", "edit", config, "create", "+", r.self, "Afterwards: "} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, prompt)
		}
	}
	if strings.Contains(prompt, "s3cret") {
		t.Errorf("the prompt shows a secret of another entry:\n%s", prompt)
	}
	if !maps.Equal(r.tree(), before) {
		t.Error("asking has changed something")
	}
	r.write(config, `{"mcpServers": {"another": {"command": "y"}}}`)
	in.Confirm = preview.Digest
	if e := ask(); e.Code != hub.CodePlanChanged || e.Detail["digest"] == preview.Digest {
		t.Errorf("after a change: %+v", e)
	}
	if got := r.read(config); strings.Contains(got, "hub") {
		t.Errorf("it was written all the same: %s", got)
	}
	uninstall, err := r.PreviewAdapter(ctx, hub.HarnessCursor, hub.AdapterUninstall, in)
	if err != nil || uninstall.Digest == preview.Digest || len(uninstall.Files) != 0 || uninstall.Prompt != "" {
		t.Errorf("nothing to uninstall: %+v, %v", uninstall, err)
	}
}

// TestSecretsBetweenChanges: two places of one file change, and a line between
// them gets a comma.
func TestSecretsBetweenChanges(t *testing.T) {
	r := newRig(t)
	r.write(filepath.Join(r.home, ".gemini/settings.json"), `{
  "mcpServers": {
    "other": { "command": "x", "env": { "API_TOKEN": "s3cret-of-somebody" } }
  },
  "theme": "GitHub", "auth": "s3cret-of-another"
}
`)
	plan, err := r.PreviewAdapter(context.Background(), hub.HarnessGeminiCLI, hub.AdapterInstall, r.edits())
	if err != nil || strings.Contains(plan.Diff, "s3cret") || !strings.Contains(plan.Diff, r.self) {
		t.Errorf("%v\n%s", err, plan.Diff)
	}
}

// TestSharedFiles: an entry that two harnesses read in one file goes with the
// last of them.
func TestSharedFiles(t *testing.T) {
	r := newRig(t)
	before := r.tree()
	in := r.input(hub.AdapterProject)
	all := []hub.Harness{hub.HarnessCodex, hub.HarnessVSCode, hub.HarnessCopilotCLI, hub.HarnessClaudeCode, hub.HarnessGeneric, hub.HarnessCline}
	for _, h := range all {
		r.must(h, hub.AdapterInstall, in)
		if got := r.statesOf(h, in); !inState(got, "installed") {
			t.Errorf("%s: %s", h, got)
		}
	}
	for i, h := range all {
		r.must(h, hub.AdapterUninstall, in)
		for _, other := range all[i+1:] {
			if got := r.statesOf(other, in); !inState(got, "installed") {
				t.Errorf("%s after %s went: %s", other, h, got)
			}
		}
	}
	if got := r.tree(); !maps.Equal(got, before) {
		t.Errorf("left: %q", slices.Sorted(maps.Keys(got)))
	}
}

// TestLostLedger: entries that equal a new install are taken over after a
// confirmation, and an uninstall removes them.
func TestLostLedger(t *testing.T) {
	r := newRig(t)
	in := r.input(hub.AdapterGlobal)
	config := filepath.Join(r.home, ".claude.json")
	const own = `{"mcpServers": {"db": {"command": "db"}}}`
	r.write(config, own)
	r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in)
	installed := r.tree()
	for _, name := range []string{"ledger.json", "ledger.old"} {
		if err := os.Remove(filepath.Join(r.home, "data", "adapters", name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if got := r.statesOf(hub.HarnessClaudeCode, in); !strings.HasPrefix(got, "drifted drifted") {
		t.Errorf("without a ledger: %s", got)
	}
	_, err := r.ChangeAdapter(context.Background(), hub.HarnessClaudeCode, hub.AdapterInstall, in)
	var asked *hub.Error
	if !errors.As(err, &asked) || asked.Code != hub.CodeConfirmRequired || !strings.Contains(fmt.Sprint(asked.Detail["prompt"]), "will be taken over") {
		t.Fatalf("it is not asked: %v", err)
	}
	if done := r.must(hub.HarnessClaudeCode, hub.AdapterInstall, in); !done.Changed || len(done.Files) != 0 || !maps.Equal(r.tree(), installed) {
		t.Errorf("files have changed: %+v", done)
	}
	if got := r.statesOf(hub.HarnessClaudeCode, in); !inState(got, "installed") {
		t.Errorf("taken over: %s", got)
	}
	r.must(hub.HarnessClaudeCode, hub.AdapterUninstall, in)
	if got := r.read(config); got != own {
		t.Errorf("left: %s", got)
	}
	if settings := filepath.Join(r.home, ".claude/settings.json"); exists(settings) && strings.Contains(r.read(settings), r.self) {
		t.Errorf("left: %s", r.read(settings))
	}
}

// TestAnyOrder: adapters come and go in any order. No file and no folder is
// left, and no entry goes that another adapter needs.
func TestAnyOrder(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	type place struct {
		harness hub.Harness
		in      hub.AdapterInput
	}
	// Each draw writes and syncs a dozen files, so the default is few draws.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
		require.NoError(t, checks.Value.Set("25"))
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		before := r.tree()
		var all []place
		for i := range rows() {
			for _, scope := range rows()[i].scopes() {
				all = append(all, place{rows()[i].harness, r.input(scope)})
			}
		}
		some := rapid.Permutation(all).Draw(rt, "come")[:rapid.IntRange(2, 3).Draw(rt, "number")]
		for _, p := range some {
			r.must(p.harness, hub.AdapterInstall, p.in)
		}
		order := rapid.Permutation(some).Draw(rt, "go")
		for i, p := range order {
			r.must(p.harness, hub.AdapterUninstall, p.in)
			for _, other := range order[i+1:] {
				if got := r.statesOf(other.harness, other.in); !inState(got, "installed") {
					rt.Fatalf("%s after %s went: %s", other.harness, p.harness, got)
				}
			}
		}
		if got := r.tree(); !maps.Equal(got, before) {
			rt.Fatalf("left: %q", slices.Sorted(maps.Keys(got)))
		}
	})
}

// TestHooksThatWouldBeHidden: the hub's hooks go into the file that has the
// user's hooks.
func TestHooksThatWouldBeHidden(t *testing.T) {
	r := newRig(t)
	settings := filepath.Join(r.home, ".factory/settings.json")
	const own = `{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}`
	r.write(settings, own)
	in := r.input(hub.AdapterGlobal)
	r.must(hub.HarnessDroid, hub.AdapterInstall, in)
	if got := r.read(settings); exists(filepath.Join(r.home, ".factory/hooks.json")) || strings.Count(got, r.self) != 6 || !strings.Contains(got, "say done") {
		t.Errorf("settings: %s", got)
	}
	r.must(hub.HarnessDroid, hub.AdapterUninstall, in)
	if got := r.read(settings); got != own {
		t.Errorf("left: %s", got)
	}
}

// TestConflict: an entry of the same name that the hub did not write stays.
func TestConflict(t *testing.T) {
	r := newRig(t)
	config := filepath.Join(r.home, ".kiro/settings/mcp.json")
	const foreign = `{"mcpServers": {"hub": {"command": "other-hub"}}}`
	r.write(config, foreign)
	in := r.input(hub.AdapterGlobal)
	if got := r.statesOf(hub.HarnessKiro, in); got != "conflict absent unsupported" {
		t.Errorf("states: %s", got)
	}
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		e := r.refused(hub.CodeAdapterConflict, hub.HarnessKiro, action, in)
		if e.Detail["file"] != config || !strings.Contains(e.Fix, "rename or remove") {
			t.Errorf("%s: %+v", action, e)
		}
	}
	if got := r.read(config); got != foreign || exists(filepath.Join(r.home, ".kiro/hooks")) {
		t.Errorf("it was changed: %s", got)
	}
}
