package maker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hubcli/internal/osfile"
	"hubcli/internal/require"
)

func TestKeyIsMadeOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	if _, err := Read(root); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Read makes a secret: %v", err)
	}
	var all sync.Map
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			key, err := Load(root)
			if err != nil {
				t.Error(err)
				return
			}
			all.Store(key.Mark("store", "a"), true)
		})
	}
	group.Wait()
	marks := 0
	all.Range(func(any, any) bool { marks++; return true })
	if marks != 1 {
		t.Errorf("%d secrets were made", marks)
	}
	info, err := os.Lstat(filepath.Join(root, NameKey))
	require.NoError(t, err)
	if osfile.Permissions(info)&0o077 != 0 {
		t.Errorf("the secret has the mode %v", info.Mode())
	}
	names, err := os.ReadDir(root)
	require.NoError(t, err)
	if len(names) != 1 {
		t.Errorf("%d files are left in the data root", len(names))
	}
}

// TestKeyThatCameFromElsewhere: a data root may lie in a checkout, too. What git or an
// archive writes is no secret.
func TestKeyThatCameFromElsewhere(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"others may read it":  func(path string) error { return os.Chmod(path, 0o644) },
		"it is a link":        func(path string) error { return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) },
		"it is a folder":      func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"it is cut":           func(path string) error { return os.WriteFile(path, []byte("AAAA\n"), 0o600) },
		"it is empty":         func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"others may write it": func(path string) error { return os.Chmod(path, 0o602) },
	} {
		t.Run(name, func(t *testing.T) {
			if !osfile.HasOwners && name != "it is cut" && name != "it is empty" {
				t.Skip("needs a system with modes")
			}
			root := t.TempDir()
			_, err := Load(root)
			require.NoError(t, err)
			require.NoError(t, spoil(filepath.Join(root, NameKey)))
			var bad *KeyError
			if _, err := Load(root); !errors.As(err, &bad) {
				t.Errorf("Load gives %v, want a KeyError", err)
			}
		})
	}
}

func TestMarksAreOfOneThing(t *testing.T) {
	one, err := Load(t.TempDir())
	require.NoError(t, err)
	two, err := Load(t.TempDir())
	require.NoError(t, err)
	mark := one.Mark("store", "made", "12", "abc")
	if !one.Proves(mark, "store", "made", "12", "abc") {
		t.Error("a secret does not prove its own mark")
	}
	for what, proves := range map[string]bool{
		"another secret":      two.Proves(mark, "store", "made", "12", "abc"),
		"another purpose":     one.Proves(mark, "spool", "made", "12", "abc"),
		"another part":        one.Proves(mark, "store", "made", "13", "abc"),
		"parts cut elsewhere": one.Proves(mark, "store", "made", "12a", "bc"),
		"fewer parts":         one.Proves(mark, "store", "made", "12abc"),
		"no mark":             one.Proves("", "store", "made", "12", "abc"),
	} {
		if proves {
			t.Errorf("%s is proved", what)
		}
	}
}

// TestDataRootIsClosedToOthers: a data root that others may write to keeps its reading rights
// and loses theirs to write; they could take the notes of hubs away.
func TestDataRootIsClosedToOthers(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(root, 0o700))
	require.NoError(t, os.Chmod(root, 0o777))
	info, err := os.Stat(root)
	require.NoError(t, err)
	if osfile.Permissions(info) == 0 {
		t.Skip("needs a system on which folders have a mode")
	}
	_, err = Load(root)
	require.NoError(t, err)
	if info, err = os.Stat(root); err != nil || osfile.Permissions(info) != 0o755 {
		t.Errorf("the data root has %v, %v", info.Mode(), err)
	}
}
