//go:build unix

package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes the exclusive lock of an open file and does not wait. It returns
// false if another open file has the lock. The system releases the lock when the
// file is closed or the process ends, however that happens. An error means that
// the file system has no locks.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// TryLockBeyond is TryLock for a file that others read while it is locked. size is
// the largest size of the file; it matters on Windows only.
func TryLockBeyond(f *os.File, _ uint32) (bool, error) { return TryLock(f) }
