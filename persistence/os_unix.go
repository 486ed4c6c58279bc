//go:build unix

package persistence

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// renameLocked says that a folder can be renamed while a file in it is open.
const renameLocked = true

// lockFile takes the exclusive lock of an open file without waiting. The kernel
// releases it with the process. false: somebody else has it.
func lockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// syncDir makes the entries of a folder durable.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // a file system that has nothing to sync for folders
	}
	return errors.Join(err, d.Close())
}

// freeBytes is what this user may still write on the disk of dir.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == nil {
			return int64(min(uint64(st.Bavail)*uint64(st.Bsize), 1<<62)), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
		}
	}
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// private takes all rights on a file from everybody but its owner.
func private(name string, mode os.FileMode) error { return os.Chmod(name, mode) }
