//go:build unix

package osfile

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the entries of a folder durable: what was created, renamed or
// removed in it survives a power cut.
func SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

// SyncDirIn does what SyncDir does, for a folder below root.
func SyncDirIn(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

func syncAndClose(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // this file system has nothing to sync for folders
	}
	return errors.Join(err, d.Close())
}
