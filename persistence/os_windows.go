package persistence

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// renameLocked says that a folder can be renamed while a file in it is open:
// Windows refuses.
const renameLocked = false

// lockFile takes the exclusive lock of an open file without waiting. The kernel
// releases it with the process. false: somebody else has it.
func lockFile(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing: NTFS journals the entries of a folder itself.
func syncDir(string) error { return nil }

// freeBytes is what this user may still write on the disk of dir.
func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(min(free, 1<<62)), nil
}

func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// private does nothing: the folder's access list is inherited from the user's
// profile.
func private(string, os.FileMode) error { return nil }
