package adapter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// rig is a home folder, a project and their adapters.
type rig struct {
	*Adapters
	t          *testing.T
	home, shop string
	self       string
	vars       map[string]string
	tools      []string // names of the bridge's tools
}

// newRig has an executable that does nothing in the place of hubcli.
func newRig(t *testing.T) *rig {
	t.Helper()
	home := t.TempDir()
	r := &rig{t: t, home: home, shop: filepath.Join(home, "work", "shop"), self: filepath.Join(home, "bin", "hubcli"), vars: map[string]string{}, tools: []string{"hub_dm", "hub_start", "hub_task"}}
	r.write(r.self, "#!/bin/sh\nexit 0\n")
	require.NoError(t, os.Chmod(r.self, 0o755))
	require.NoError(t, errors.Join(os.MkdirAll(r.shop, 0o755), os.MkdirAll(filepath.Join(home, "data"), 0o755)))
	r.Adapters = r.another()
	return r
}

// another returns adapters of the same machine as another process has them.
func (r *rig) another() *Adapters {
	return New(Config{
		World: World{GOOS: "linux", Home: r.home, DataRoot: filepath.Join(r.home, "data"), Getenv: func(name string) string { return r.vars[name] }},
		Self:  func() (string, error) { return r.self, nil },
		LookPath: func(name string) (string, error) {
			if path := filepath.Join(r.home, "bin", name); runnable(path) {
				return path, nil
			}
			return "", exec.ErrNotFound
		},
		Version: "test", Tools: r.tools,
	})
}

func (r *rig) write(path, content string) {
	r.t.Helper()
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o644))
}

func (r *rig) read(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(r.t, err)
	return string(b)
}

// tree returns all files of the home folder by path, without the hub's own and Git's.
func (r *rig) tree() map[string]string {
	r.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(r.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.home, path)
		switch {
		case rel == "data/adapters" || rel == "bin":
			return fs.SkipDir
		case rel == "work/shop/.git":
			return nil
		case filepath.Dir(rel) == "work/shop/.git" && d.IsDir() && d.Name() != "hooks":
			return fs.SkipDir
		case filepath.Dir(rel) == "work/shop/.git" && !d.IsDir():
			return nil
		case d.IsDir():
			found[rel+"/"] = ""
		default:
			found[rel] = r.read(path)
		}
		return nil
	})
	require.NoError(r.t, err)
	return found
}

// input returns the input for a scope. The project is a repository.
func (r *rig) input(scope hub.AdapterScope) hub.AdapterInput {
	if scope == hub.AdapterProject {
		require.NoError(r.t, exec.Command("git", "init", "--quiet", "--template=", r.shop).Run())
		return hub.AdapterInput{Scope: scope, Path: r.shop}
	}
	return hub.AdapterInput{Scope: scope}
}

// edits returns the input for the user, by which a harness gets entries in its own files.
func (r *rig) edits() hub.AdapterInput {
	return hub.AdapterInput{Scope: hub.AdapterGlobal, Plugin: new(false)}
}

// do carries an action out and confirms it if needed.
func (r *rig) do(h hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterResult, error) {
	done, err := r.ChangeAdapter(context.Background(), h, action, in)
	var e *hub.Error
	if errors.As(err, &e) && e.Code == hub.CodeConfirmRequired {
		in.Confirm = e.Detail["digest"].(string)
		return r.ChangeAdapter(context.Background(), h, action, in)
	}
	return done, err
}

func (r *rig) must(h hub.Harness, action hub.AdapterAction, in hub.AdapterInput) hub.AdapterResult {
	r.t.Helper()
	done, err := r.do(h, action, in)
	if err != nil {
		r.t.Fatalf("%s %s %s: %v", h, in.Scope, action, err)
	}
	return done
}

// refused tries an action that must fail with this code.
func (r *rig) refused(code hub.Code, h hub.Harness, action hub.AdapterAction, in hub.AdapterInput) *hub.Error {
	r.t.Helper()
	_, err := r.do(h, action, in)
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != code {
		r.t.Fatalf("%s %s %s: %v, want %s", h, in.Scope, action, err, code)
	}
	if e.FixFor(hub.ForHTTP) == "" || e.FixFor(hub.ForCLI) == "" {
		r.t.Errorf("%s: %s has no fix", h, e.Message)
	}
	return e
}

// states returns the states of the parts at a place, but for those of the permissions and the plugin.
func (r *rig) statesOf(h hub.Harness, in hub.AdapterInput) string {
	r.t.Helper()
	return r.partsOf(h, in, func(p hub.AdapterPartName) bool { return p != hub.PartPermissions && p != hub.PartPlugin })
}

// permissionsOf returns the state of the permissions at a place.
func (r *rig) permissionsOf(h hub.Harness, in hub.AdapterInput) string {
	r.t.Helper()
	return r.partsOf(h, in, func(p hub.AdapterPartName) bool { return p == hub.PartPermissions })
}

func (r *rig) partsOf(h hub.Harness, in hub.AdapterInput, some func(hub.AdapterPartName) bool) string {
	r.t.Helper()
	row, err := r.Adapter(context.Background(), h, hub.AdapterQuery{})
	require.NoError(r.t, err)
	for _, place := range row.Places {
		if place.Scope == in.Scope && place.Path == in.Path {
			var words []string
			for _, p := range place.Parts {
				if !some(p.Part) {
					continue
				}
				word := string(p.State)
				if p.Outdated {
					word += "*"
				}
				words = append(words, word)
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}
