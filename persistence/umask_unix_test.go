//go:build unix

package persistence

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/internal/require"
)

// TestFilesAreTheOwnersAlone: no file or folder of a store may be read or written by others,
// whatever the umask of the process.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir)
	open := func() (names []string) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				names = append(names, path)
			}
			return err
		}))
		return names
	}
	if names := open(); len(names) > 0 {
		t.Errorf("open to others: %v", names)
	}
	for n := 0; !thereIsFile(dir, "00002.mem"); n++ {
		post(t, s, 200)
		if n > 200 {
			t.Fatal("no new file is made")
		}
	}
	var names []string
	for range 5 { // a flush that is under way may make a file between the two
		s.protectDatabase(time.Time{}) // as the looks at the folder do
		if names = open(); len(names) == 0 {
			break
		}
	}
	if len(names) > 0 {
		t.Errorf("open to others later: %v", names)
	}
	require.NoError(t, s.Close())
}

func thereIsFile(dir, name string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, storedir.NameBadger, name))
	return len(found) > 0
}
