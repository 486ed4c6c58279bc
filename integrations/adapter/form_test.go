package adapter

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// eachOwn runs a test for each setup that has a form in files of the hub's own.
func eachOwn(t *testing.T, test func(t *testing.T, r *rig, h *row, s *setup, in hub.AdapterInput)) {
	tried := 0
	each(t, func(t *testing.T, r *rig, h *row, in hub.AdapterInput) {
		if s := h.setup(in.Scope); s.own != nil {
			tried++
			test(t, r, h, s, in)
		}
	})
	if tried == 0 {
		t.Error("no harness has such a form")
	}
}

// at returns the file of a piece.
func (r *rig) at(p piece, in hub.AdapterInput) string {
	at, _ := r.config.World.choose(p.places, in.Path, exists)
	return at
}

// userFile writes a file of the user's with nothing of the hub's.
func (r *rig) userFile(p piece, in hub.AdapterInput) string {
	at := r.at(p, in)
	r.write(at, "{\n  // mine\n  \"theme\": \"x\"\n}\n")
	return at
}

// TestOwnFormIsChosen: an install edits no file of the user's where a harness loads files of the
// hub's own, and an uninstall leaves nothing of these.
func TestOwnFormIsChosen(t *testing.T) {
	eachOwn(t, func(t *testing.T, r *rig, h *row, s *setup, in hub.AdapterInput) {
		r.userFile(s.mcp[0], in)
		before := r.tree()
		r.must(h.harness, hub.AdapterInstall, in)
		after := r.tree()
		for name, content := range before {
			if after[name] != content && !allows(&s.own.setup, name) {
				t.Errorf("%s has changed:\n%s", name, after[name])
			}
		}
		if got := r.statesOf(h.harness, in); !inState(got, "installed") {
			t.Errorf("states: %s", got)
		}
		for range 2 {
			r.Ensure(context.Background())
		}
		if got := r.tree(); !maps.Equal(got, after) {
			t.Error("a start of the hub has changed something")
		}
		r.must(h.harness, hub.AdapterUninstall, in)
		if got := r.tree(); !maps.Equal(got, before) {
			t.Errorf("left: %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(before)))
		}
	})
}

// allows reports whether the permissions of a form are a rule in a file of the user's.
func allows(s *setup, name string) bool {
	return slices.ContainsFunc(s.permit, func(p piece) bool {
		return p.exact && slices.ContainsFunc(p.places, func(at place) bool { return strings.HasSuffix(string(at), name) })
	})
}

// TestEditsMove: a user with entries in the harness's files keeps them until an install or a repair
// moves them. What was not ours there stays to the byte, and permissions go along as they were.
// The entries go before the new files come, so that no server and no hook is there twice.
func TestEditsMove(t *testing.T) {
	testrace.Avoid(t, "one goroutine tries every change of a file")
	for _, action := range []hub.AdapterAction{hub.AdapterInstall, hub.AdapterRepair} {
		for _, refused := range []bool{false, true} {
			eachOwn(t, func(t *testing.T, r *rig, h *row, s *setup, in hub.AdapterInput) {
				file := r.userFile(s.mcp[0], in)
				before := r.tree()
				edits := in
				edits.Plugin, edits.NoPermissions = new(false), refused
				r.must(h.harness, hub.AdapterInstall, edits)
				edited := r.tree()
				permitted := r.permissionsOf(h.harness, in)
				r.Ensure(context.Background())
				if got := r.statesOf(h.harness, in); !inState(got, "installed") || !maps.Equal(r.tree(), edited) || !strings.Contains(r.read(file), r.self) {
					t.Fatalf("before: %s", got)
				}
				if got := r.reasonOf(h.harness, in); got != movable {
					t.Errorf("the status says %q", got)
				}
				move := in
				move.NoPermissions = refused && action == hub.AdapterInstall
				plan, err := r.PreviewAdapter(t.Context(), h.harness, action, move)
				require.NoError(t, err)
				if plan.Files[0].File != file {
					t.Errorf("%s is not the first that changes: %+v", file, plan.Files)
				}
				r.must(h.harness, action, move)
				if got := r.statesOf(h.harness, in); !inState(got, "installed") || strings.Contains(r.read(file), r.self) {
					t.Errorf("moved: %s\n%s", got, r.read(file))
				}
				if got := r.permissionsOf(h.harness, in); got != permitted {
					t.Errorf("permissions: %s, before %s", got, permitted)
				}
				if got := r.reasonOf(h.harness, in); got != "" {
					t.Errorf("moved, and the status says %q", got)
				}
				if done := r.must(h.harness, action, move); done.Changed {
					t.Errorf("a second time it changed %+v", done.Files)
				}
				back := edits
				r.must(h.harness, hub.AdapterInstall, back)
				if got := r.tree(); !maps.Equal(got, edited) {
					t.Errorf("moved back: %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(edited)))
				}
				r.must(h.harness, hub.AdapterInstall, move)
				r.must(h.harness, hub.AdapterUninstall, in)
				if got := r.tree(); !maps.Equal(got, before) {
					t.Errorf("left: %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(before)))
				}
			})
		}
	}
}

// reasonOf returns the reason of the state of the server.
func (r *rig) reasonOf(h hub.Harness, in hub.AdapterInput) string {
	r.t.Helper()
	row, err := r.Adapter(context.Background(), h, hub.AdapterQuery{})
	require.NoError(r.t, err)
	for _, place := range row.Places {
		if place.Scope == in.Scope && place.Path == in.Path {
			return place.Parts[0].Reason
		}
	}
	return ""
}

// TestEditsStay: where the own form would lose something, or something else is in its place,
// the entries stay in the harness's files, and the plan says why. What is foreign stays as it is.
func TestEditsStay(t *testing.T) {
	eachOwn(t, func(t *testing.T, _ *rig, h *row, s *setup, in hub.AdapterInput) {
		for name, c := range map[string]struct {
			prepare func(r *rig, in hub.AdapterInput, file string)
			note    string
		}{
			"a foreign file in its place": {func(r *rig, in hub.AdapterInput, _ string) {
				r.write(r.at(s.own.mcp[len(s.own.mcp)-1], in), "{\"name\": \"hubcli\", \"version\": \"9\"}\n")
			}, keepsForeign},
			"a link that leads to another file": {func(r *rig, in hub.AdapterInput, _ string) {
				other, at := filepath.Join(r.t.TempDir(), "other"), r.at(s.own.mcp[len(s.own.mcp)-1], in)
				r.write(other, "of others\n")
				require.NoError(r.t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(other, at)))
			}, keepsForeign},
			"a foreign file in its folder": {func(r *rig, in hub.AdapterInput, _ string) {
				if dir, _, ok := r.config.World.resolve(s.own.dir, in.Path); ok {
					r.write(filepath.Join(dir, "commands", "mine.toml"), "x")
				}
			}, keepsForeign},
			"a folder that others may write": {func(r *rig, in hub.AdapterInput, _ string) {
				if dir, _, ok := r.config.World.resolve(s.own.dir, in.Path); ok {
					require.NoError(r.t, errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o777)))
				}
			}, keepsForeign},
			"variables of the user's": {func(r *rig, in hub.AdapterInput, file string) {
				edits := in
				edits.Plugin = new(false)
				r.config.DataRoot = "/data"
				r.must(h.harness, hub.AdapterInstall, edits)
				r.write(file, strings.Replace(r.read(file), `"HUB_DATA_ROOT":`, `"HUB_AGENT": "bob", "HUB_DATA_ROOT":`, 1))
			}, keepsVariables},
			"a server of the user's": {func(r *rig, in hub.AdapterInput, file string) {
				keys := s.mcp[0].keys
				doc := `{"command": "mine"}`
				for _, key := range slices.Backward(keys) {
					doc = `{"` + key + `": ` + doc + `}`
				}
				r.write(file, doc)
			}, ""},
		} {
			if s.own.dir == "" && strings.Contains(name, "folder") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				r := newRig(t)
				in := r.input(in.Scope)
				file := r.userFile(s.mcp[0], in)
				c.prepare(r, in, file)
				before := r.tree()
				if c.note == "" {
					r.refused(hub.CodeAdapterConflict, h.harness, hub.AdapterInstall, in)
					if !maps.Equal(r.tree(), before) {
						t.Error("something has changed")
					}
					return
				}
				plan, err := r.PreviewAdapter(t.Context(), h.harness, hub.AdapterInstall, in)
				require.NoError(t, err)
				if len(plan.Files) > 0 && !strings.Contains(plan.Prompt, c.note) {
					t.Errorf("the plan does not say why:\n%s", plan.Prompt)
				}
				r.must(h.harness, hub.AdapterInstall, in)
				if got := r.statesOf(h.harness, in); !inState(got, "installed") || !strings.Contains(r.read(file), r.self) {
					t.Errorf("%s\n%s", got, r.read(file))
				}
				if c.note == keepsVariables {
					if got := r.read(file); !strings.Contains(got, "bob") {
						t.Errorf("the variable is gone:\n%s", got)
					}
					return
				}
				r.must(h.harness, hub.AdapterUninstall, in)
				if got := r.tree(); !maps.Equal(got, before) {
					t.Errorf("left: %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(before)))
				}
			})
		}
	})
}

// TestVariablesInOwnFiles: variables that a user adds in a file of the hub's own are no drift, and
// stay when the file is written anew.
func TestVariablesInOwnFiles(t *testing.T) {
	eachOwn(t, func(t *testing.T, r *rig, h *row, s *setup, in hub.AdapterInput) {
		r.config.DataRoot = "/data"
		r.must(h.harness, hub.AdapterInstall, in)
		file := r.at(s.own.mcp[len(s.own.mcp)-1], in)
		r.write(file, strings.Replace(r.read(file), `"HUB_DATA_ROOT":`, `"HUB_AGENT": "bob",  "HUB_DATA_ROOT":`, 1))
		if got := r.statesOf(h.harness, in); !strings.Contains(r.read(file), "bob") || !inState(got, "installed") {
			t.Errorf("%s\n%s", got, r.read(file))
		}
		if done := r.must(h.harness, hub.AdapterInstall, in); len(done.Files) > 0 {
			t.Errorf("an install changed %+v", done.Files)
		}
		r.write(file, strings.ReplaceAll(r.read(file), r.self, "/elsewhere"))
		r.must(h.harness, hub.AdapterRepair, in)
		if got := r.read(file); !strings.Contains(got, `"bob"`) || !strings.Contains(got, r.self) || !strings.Contains(got, "HUB_DATA_ROOT") {
			t.Errorf("repaired:\n%s", got)
		}
		if got := r.statesOf(h.harness, in); !inState(got, "installed") {
			t.Errorf("repaired: %s", got)
		}
		r.must(h.harness, hub.AdapterUninstall, in)
		if exists(file) {
			t.Errorf("left:\n%s", r.read(file))
		}
	})
}

// TestSettingsAgainstExtensions: with settings by which Gemini CLI would not take all of the extension,
// the hub is set up in its settings, and goes back there when such a setting comes later.
func TestSettingsAgainstExtensions(t *testing.T) {
	for doc, why := range map[string]string{
		`{"security": {"allowedExtensions": ["^/opt/"]}}`: "security.allowedExtensions",
		`{"policyPaths": ["/etc/rules"]}`:                 "policyPaths",
		`{"security": {"allowedExtensions": []}}`:         "",
	} {
		r := newRig(t)
		in, file := r.input(hub.AdapterGlobal), filepath.Join(r.home, ".gemini/settings.json")
		extension := filepath.Join(r.home, ".gemini/extensions")
		r.must(hub.HarnessGeminiCLI, hub.AdapterInstall, in)
		r.write(file, doc)
		plan, err := r.PreviewAdapter(t.Context(), hub.HarnessGeminiCLI, hub.AdapterInstall, in)
		require.NoError(t, err)
		if !strings.Contains(plan.Prompt, why) || (plan.Prompt == "") != (why == "") {
			t.Errorf("%s: %s", doc, plan.Prompt)
		}
		if got := r.statesOf(hub.HarnessGeminiCLI, in); strings.HasPrefix(got, "installed* ") != (why != "") {
			t.Errorf("%s: %s", doc, got)
		}
		r.must(hub.HarnessGeminiCLI, hub.AdapterRepair, in)
		if edited := strings.Contains(r.read(file), `"trust": true`); edited != (why != "") || exists(extension) == edited {
			t.Errorf("%s: edited %t\n%s", doc, edited, r.read(file))
		}
		if got := r.statesOf(hub.HarnessGeminiCLI, in); !inState(got, "installed") {
			t.Errorf("%s: %s", doc, got)
		}
		r.must(hub.HarnessGeminiCLI, hub.AdapterUninstall, in)
		if got := r.read(file); got != doc {
			t.Errorf("left: %s, want %s", got, doc)
		}
	}
}
