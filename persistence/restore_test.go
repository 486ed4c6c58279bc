package persistence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/internal/require"
)

// TestKilledRestoreLeavesNoHalfStore: at every step, what is in the place is the
// whole new store, or what was there before.
func TestKilledRestoreLeavesNoHalfStore(t *testing.T) {
	s := filled(t)
	backup := backupOf(t, s)
	for _, step := range []string{"load", "head", "verify", "marker", "place", "moved"} {
		for _, occupied := range []bool{false, true} {
			if step == "moved" && !occupied {
				continue
			}
			t.Run(step, func(t *testing.T) {
				parent := t.TempDir()
				dir := filepath.Join(parent, "store")
				var before string
				if occupied {
					old := openStore(t, dir)
					post(t, old, 2)
					before = string(old.InstanceID())
					require.NoError(t, old.Close())
				}
				killed := func() (reached bool) {
					defer func() { reached = recover() != nil }()
					o := RestoreOptions{MoveAside: true, step: func(at string) {
						if at == step {
							copyTree(t, parent, parent+".killed")
							panic("killed")
						}
					}}
					_, _ = Restore(bytes.NewReader(backup), dir, o)
					return false
				}
				if !killed() {
					t.Fatal("the step was not reached")
				}
				// What a kill leaves is what was there at that moment, not what
				// the deferred calls of the panic have tidied.
				parent += ".killed"
				t.Cleanup(func() { _ = os.RemoveAll(parent) })
				dir = filepath.Join(parent, "store")
				m, err := storedir.Inspect(dir)
				switch {
				case step == "moved":
					if !errors.Is(err, storedir.ErrNoStore) {
						t.Errorf("Inspect between the renames: %v", err)
					}
					aside, _ := filepath.Glob(dir + ".before-*")
					if len(aside) != 1 {
						t.Errorf("the old store is at %v", aside)
					}
				case occupied:
					if err != nil || string(m.InstanceID) != before {
						t.Errorf("the store that was there is %v, %v", m, err)
					}
				case !errors.Is(err, storedir.ErrNoStore):
					t.Errorf("Inspect: %v, want that there is none", err)
				}
				if step != "place" && step != "moved" { // then it is whole
					if _, err := storedir.Inspect(dir + restoring); err == nil && step != "marker" {
						t.Error("a hub would open the half store")
					}
				}
				got, err := Restore(bytes.NewReader(backup), dir, RestoreOptions{MoveAside: true})
				require.NoError(t, err)
				back := openStore(t, dir)
				if back.InstanceID() != got.Instance || back.Head() != passedOver(s.durable) {
					t.Errorf("the next restore made %+v", back.Head())
				}
				if _, err := os.Lstat(dir + restoring); err == nil {
					t.Error("the folder of the killed restore is still there")
				}
			})
		}
	}
}

// copyTree copies a tree, as a kill would leave it.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

func TestRestoreNeedsAPlace(t *testing.T) {
	backup := backupOf(t, filled(t))
	restore := func(dir string, o RestoreOptions) (Restored, error) {
		return Restore(bytes.NewReader(backup), dir, o)
	}
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir)
	post(t, s, 1)
	if _, err := restore(dir, RestoreOptions{MoveAside: true}); !errors.Is(err, storedir.ErrLocked) {
		t.Errorf("beside a hub: %v", err)
	}
	old := s.InstanceID()
	require.NoError(t, s.Close())
	_, err := restore(dir, RestoreOptions{})
	if err == nil || !strings.Contains(err.Error(), "has a store already") {
		t.Errorf("over a store: %v", err)
	}
	if m, err := storedir.Inspect(dir); err != nil || m.InstanceID != old {
		t.Errorf("the store that was there is %v, %v", m, err)
	}
	got, err := restore(dir, RestoreOptions{MoveAside: true})
	require.NoError(t, err)
	if m, err := storedir.Inspect(got.Aside); err != nil || m.InstanceID != old {
		t.Errorf("the store that was moved aside is %v, %v", m, err)
	}

	for what, name := range map[string]string{"other files": "letter", "a folder in the way": "in-the-way.restoring/letter"} {
		parent := t.TempDir()
		path := filepath.Join(parent, name)
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("dear"), 0o600)))
		place := parent
		if strings.Contains(name, "/") {
			place = filepath.Join(parent, "in-the-way")
		}
		if _, err := restore(place, RestoreOptions{MoveAside: true}); !errors.Is(err, storedir.ErrNotAStore) {
			t.Errorf("%s: %v", what, err)
		}
		if b, _ := os.ReadFile(path); string(b) != "dear" {
			t.Errorf("%s: the file is gone", what)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	if _, err := restore(link, RestoreOptions{}); !errors.Is(err, storedir.ErrNotAStore) {
		t.Errorf("over a link: %v", err)
	}
	empty := t.TempDir()
	if _, err := restore(empty, RestoreOptions{}); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
}

// TestRestoreOnAFullDisk: it says so, and leaves nothing.
func TestRestoreOnAFullDisk(t *testing.T) {
	backup := backupOf(t, filled(t))
	for calls := range 3 { // before it begins, while it loads, and before it ends
		parent := t.TempDir()
		n := 0
		full := func(string) (int64, error) {
			if n++; n > calls*30 {
				return 1 << 20, nil
			}
			return 1 << 40, nil
		}
		_, err := Restore(bytes.NewReader(backup), filepath.Join(parent, "store"), RestoreOptions{free: full})
		var e *storedir.StartError
		if !errors.As(err, &e) || e.Kind != storedir.StartFull || e.Fix == "" {
			t.Errorf("after %d looks: %v", calls*30, err)
		}
		if names, _ := os.ReadDir(parent); len(names) != 0 {
			t.Errorf("after %d looks %v is left", calls*30, names)
		}
	}
}
