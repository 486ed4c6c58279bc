package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the exclusive lock of an open file and does not wait. It returns
// false if another open file has the lock. The system releases the lock when the
// file is closed or the process ends, however that happens. An error means that
// the file system has no locks. Nobody else can read the first byte of the file
// while it is locked.
func TryLock(f *os.File) (bool, error) { return lockByte(f, 0) }

// TryLockBeyond is TryLock for a file that others read while it is locked: it locks
// the byte behind size, which is the largest size of the file.
func TryLockBeyond(f *os.File, size uint32) (bool, error) { return lockByte(f, size+1) }

func lockByte(f *os.File, offset uint32) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{Offset: offset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
