//go:build unix

package persistence

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hubcli/persistence/storedir"

	"hubcli/internal/require"
)

// TestNothingOfAStoreIsWaitedFor: a file of a store is a pipe into which nobody writes, or a
// link to one, as a checkout may have it. The store is refused at once.
func TestNothingOfAStoreIsWaitedFor(t *testing.T) {
	for _, name := range []string{storedir.NameFormat, storedir.NameKey, storedir.NameToken, storedir.NameMaker, storedir.NameHead, storedir.NameLock, storedir.NameSalvaged, storedir.NameSocket} {
		for _, link := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := Open(dir, Options{})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			path := filepath.Join(dir, name)
			require.NoError(t, os.RemoveAll(path))
			if link {
				require.NoError(t, syscall.Mkfifo(dir+".pipe", 0o600))
				require.NoError(t, os.Symlink(dir+".pipe", path))
			} else {
				require.NoError(t, syscall.Mkfifo(path, 0o600))
			}
			done := make(chan error, 3)
			go func() {
				_, err := storedir.Inspect(dir)
				done <- err
				_, err = ReadSocket(dir)
				done <- err
				s, err := Open(dir, Options{})
				if err == nil {
					err = s.Close()
				}
				done <- err
			}()
			for i := range 3 {
				select {
				case err := <-done:
					if needed := name == storedir.NameFormat || name == storedir.NameKey || name == storedir.NameToken || name == storedir.NameHead; needed && i == 2 && err == nil {
						t.Errorf("%s is no plain file, and the store is opened, a link: %v", name, link)
					}
				case <-time.After(30 * time.Second):
					t.Fatalf("%s is waited for, a link: %v", name, link)
				}
			}
		}
	}
}
