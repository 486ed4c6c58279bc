package persistence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// InUse reports whether a process has the store in dir open. It looks by taking
// the store's lock for an instant, and makes nothing.
func InUse(dir string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, nameLock), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, ioError("looking at the lock", err)
	}
	defer f.Close()
	free, err := lockFile(f)
	if err != nil {
		return false, ioError("looking at the lock", err)
	}
	return !free, nil
}
