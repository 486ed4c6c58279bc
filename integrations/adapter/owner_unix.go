//go:build unix

package adapter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// own reports whether a file is this user's.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Getuid()
}

// trusted refuses an executable that somebody else could have put in its place:
// the file that it leads to, and every folder above, belong to this user or to
// root, and not everybody may write there.
func trusted(path string) error {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return fmt.Errorf("%s is not run: %s belongs to another user", path, at)
		}
		if info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0) {
			return fmt.Errorf("%s is not run: everybody may write %s", path, at)
		}
		if above := filepath.Dir(at); above != at {
			at = above
			continue
		}
		return nil
	}
}
