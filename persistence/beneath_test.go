package persistence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/osfile"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// TestNothingHappensBeneathAHub: while a process has a store open, it is neither opened nor
// moved nor deleted by another one, also when somebody has deleted its lock file; and also
// beneath a hub of an earlier version, which locks less. Nothing is changed then.
func TestNothingHappensBeneathAHub(t *testing.T) {
	backup := backupOf(t, filled(t))
	tries := map[string]func(t *testing.T, dir string) error{
		"start":           func(t *testing.T, dir string) error { return refused(t, dir, Options{}) },
		"start, accepted": func(t *testing.T, dir string) error { return refused(t, dir, Options{AcceptTruncated: true}) },
		"delete":          func(_ *testing.T, dir string) error { return Delete(dir) },
		"restore": func(_ *testing.T, dir string) error {
			_, err := Restore(bytes.NewReader(backup), dir, RestoreOptions{MoveAside: true})
			return err
		},
		"doctor": func(_ *testing.T, dir string) error { _, err := Examine(dir); return err },
		"salvage": func(_ *testing.T, dir string) error {
			_, err := Salvage(dir, dir+".salvaged", SalvageOptions{})
			return err
		},
		"look": func(_ *testing.T, dir string) error {
			held, _, err := storedir.HeldBy(dir)
			if err == nil && held {
				err = storedir.ErrLocked
			}
			return err
		},
	}
	for name, c := range map[string]struct {
		earlier bool // the hub is of an earlier version
		unlock  bool // LOCK is deleted
	}{"a hub": {}, "a hub without its lock file": {unlock: true}, "an earlier hub": {earlier: true}, "an earlier hub without its lock file": {true, true}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			s := openStore(t, dir)
			post(t, s, 3)
			if c.earlier {
				unlockFolder(t, s)
			}
			if c.unlock {
				if err := os.Remove(filepath.Join(dir, storedir.NameLock)); err != nil {
					t.Skip("needs a system that deletes open files: ", err)
				}
			}
			for what, try := range tries {
				was := folderState(t, filepath.Dir(dir))
				if err := try(t, dir); !errors.Is(err, storedir.ErrLocked) {
					t.Errorf("%s: %v", what, err)
				}
				if now := folderState(t, filepath.Dir(dir)); now != was {
					t.Errorf("%s has changed the store:\n%s\nit was\n%s", what, now, was)
				}
			}
			post(t, s, 3)
			require.NoError(t, s.Close())
			s = openStore(t, dir)
			require.NoError(t, checkReads(s, 6))
			require.NoError(t, s.Close())
		})
	}
}

// TestStartIsBeneathNoOther: a start that still reads has the store as much as a hub has it, also
// without the lock file, and goes on.
func TestStartIsBeneathNoOther(t *testing.T) {
	dir := newStore(t, 3)
	s, err := OpenToRead(dir, Options{})
	require.NoError(t, err)
	for _, unlock := range []bool{false, true} {
		if unlock {
			if err := os.Remove(filepath.Join(dir, storedir.NameLock)); err != nil {
				t.Skip("needs a system that deletes open files: ", err)
			}
		}
		if err := refused(t, dir, Options{}); !errors.Is(err, storedir.ErrLocked) {
			t.Errorf("a second start: %v", err)
		}
		if held, _, err := storedir.HeldBy(dir); !held || err != nil {
			t.Errorf("held %v, %v", held, err)
		}
	}
	require.NoError(t, s.Begin())
	post(t, s, 3)
	require.NoError(t, checkReads(s, 6))
	require.NoError(t, s.Close())
}

// TestNothingIsWrittenBeforeBegin: a store that is open for reading takes rows for later, and
// nothing else. What was not begun leaves no trace.
func TestNothingIsWrittenBeforeBegin(t *testing.T) {
	dir := killedStore(t)
	row := core.Row{Table: core.TableThread, Key: []byte("k"), Value: []byte("v")}
	was := folderState(t, dir)
	s, err := OpenToRead(dir, Options{})
	require.NoError(t, err)
	w := &conformance.Writer{Head: s.Head()}
	for _, what := range []string{"append", "checkpoint", "gap"} {
		if err := uses[what](s, w); !errors.Is(err, errNotBegun) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(s.RaiseFor(storedir.NameMaker), s.NoteSocket("/x")); !errors.Is(err, errNotBegun) {
		t.Errorf("a new format: %v", err)
	}
	s.space.look() // makes no ballast and gives none up
	require.NoError(t, s.PutRows([]core.Row{row}))
	require.NoError(t, checkReads(s, 11))
	require.NoError(t, errors.Join(s.Close(), s.Close()))
	if _, err := s.Message(1); !errors.Is(err, storedir.ErrClosed) {
		t.Errorf("a read after Close: %v", err)
	}
	if now := folderState(t, dir); now != was {
		t.Errorf("the store is now\n%s\nit was\n%s", now, was)
	}
	s, err = OpenToRead(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, s.PutRows([]core.Row{row}))
	require.NoError(t, errors.Join(s.Begin(), s.Begin()))
	if v, err := s.Row(row.Table, row.Key); err != nil || string(v) != "v" {
		t.Errorf("the row is %q, %v", v, err)
	}
	require.NoError(t, s.Close())
}

// unlockFolder takes the lock away that hubs of earlier versions do not have.
func unlockFolder(t *testing.T, s *Store) {
	t.Helper()
	other, err := os.Open(s.dir)
	require.NoError(t, err)
	free, err := osfile.TryLock(other)
	if err != nil || free {
		_ = other.Close()
		t.Skip("needs locks of folders: ", err)
	}
	require.NoError(t, errors.Join(other.Close(), s.lock.Folder.Close()))
	s.lock.Folder, err = os.Open(s.dir)
	require.NoError(t, err)
	s.folder.handle = s.lock.Folder
}

// TestRestoreBeneathALostStore: where a store was moved away beneath a hub, another one is made
// in its place. The hub writes nothing there, whatever it is asked for.
func TestRestoreBeneathALostStore(t *testing.T) {
	if !storedir.RenameLocked {
		t.Skip("needs a system that renames a folder with open files")
	}
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir)
	post(t, s, 3)
	backup := backupOf(t, s)
	require.NoError(t, os.Rename(dir, dir+".away"))
	if _, err := Restore(bytes.NewReader(backup), dir, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	was := folderState(t, dir)
	if err := s.Check(); err == nil {
		t.Error("the hub does not notice")
	}
	_ = s.Close()
	if now := folderState(t, dir); now != was {
		t.Errorf("the hub has changed the restored store:\n%s\nit was\n%s", now, was)
	}
	again := openStore(t, dir)
	require.NoError(t, checkReads(again, 3))
	require.NoError(t, again.Close())
	require.NoError(t, errors.Join(os.Rename(dir, dir+".restored"), os.Rename(dir+".away", dir), s.db.Close(), s.lock.Close()))
}
