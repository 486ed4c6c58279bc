package adapter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hubcli/internal/osfile"
)

// own reports whether a file belongs to this user.
func own(info fs.FileInfo) bool {
	uid, known := osfile.Owner(info)
	return !known || uid == os.Geteuid()
}

// trusted refuses an executable that another user could have replaced. The file
// that the path leads to and every folder above it must belong to this user or
// to root, and must not be writable for all users.
func trusted(path string) error {
	if !osfile.HasOwners {
		return nil // Windows: write permissions are inherited
	}
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if uid, known := osfile.Owner(info); known && uid != 0 && uid != os.Geteuid() {
			return fmt.Errorf("%s is not run: %s belongs to another user", path, at)
		}
		if info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0) {
			return fmt.Errorf("%s is not run: all users may write %s", path, at)
		}
		if above := filepath.Dir(at); above != at {
			at = above
			continue
		}
		return nil
	}
}
