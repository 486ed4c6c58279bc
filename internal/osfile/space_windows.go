package osfile

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Free returns how many bytes this user may still write on the disk of a folder.
func Free(dir string) (int64, error) {
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

// FreeFiles returns how many more files the disk of a folder has room for: no file system
// of this system keeps a fixed number of them.
func FreeFiles(string) (int64, error) { return math.MaxInt64, nil }

// IsFull reports whether an error of the system says that a disk has no room.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
