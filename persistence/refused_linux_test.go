package persistence

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/storedir"

	"golang.org/x/sys/unix"

	"hubcli/internal/require"
)

// TestForbiddenStartChangesNothing: a user who may not write to a part of the store is told so
// before anything else of it has changed.
func TestForbiddenStartChangesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to act as another user")
	}
	const nobody = 65534
	killed := killedStore(t)
	for _, part := range []string{"", storedir.NameHead, storedir.NameKey, storedir.NameLock, storedir.NameBadger, storedir.NameCheckpoints, storedir.NameBadger + "/*.mem", storedir.NameBadger + "/000001.vlog", storedir.NameBadger + "/000001.sst", storedir.NameBadger + "/" + badgerfile.NameManifest, storedir.NameBadger + "/" + badgerfile.NameRegistry, storedir.NameBadger + "/" + badgerfile.NameDiscard} {
		for _, mode := range []os.FileMode{0o500, 0o555} {
			t.Run(part+" "+mode.String(), func(t *testing.T) {
				base := t.TempDir()
				dir := filepath.Join(base, "store")
				copyShort(t, killed, dir)
				for at := base; at != filepath.Clean(os.TempDir()) && at != "/"; at = filepath.Dir(at) { // the other user has to get there
					info, err := os.Stat(at)
					require.NoError(t, err)
					require.NoError(t, os.Chmod(at, info.Mode()|0o011))
				}
				require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
					if err == nil {
						err = os.Chown(path, nobody, nobody)
					}
					return err
				}))
				if err := openAs(nobody, dir); err != nil {
					t.Skip("needs a folder for temporary files that other users may enter: ", err)
				}
				found, err := filepath.Glob(filepath.Join(dir, part))
				if err != nil || len(found) == 0 {
					t.Fatalf("there is no %s", part)
				}
				for _, path := range found {
					if info, err := os.Stat(path); err == nil && info.Size() == 0 {
						continue // it is debris
					}
					require.NoError(t, os.Chown(path, 0, 0))
					require.NoError(t, os.Chmod(path, mode))
				}
				was := folderState(t, base)
				err = openAs(nobody, dir)
				if now := folderState(t, base); now != was {
					t.Errorf("a start that was refused (%v) has changed the store:\n%s\nit was\n%s", err, now, was)
				}
				if part == storedir.NameKey && mode&0o004 != 0 {
					return // it can be read, and its mode is another user's business
				}
				if !isStart(err, storedir.StartReadOnly) {
					t.Errorf("%v, want read_only", err)
				}
			})
		}
	}
}

// openAs opens a store as another user of the machine, as far as files are concerned.
func openAs(uid int, dir string) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		if err := unix.Setfsuid(uid); err != nil {
			done <- err
			return
		}
		s, err := OpenToRead(dir, Options{})
		if err == nil {
			err = s.Close()
		}
		done <- err
	}()
	return <-done
}
