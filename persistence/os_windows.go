package persistence

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// renameLocked says whether a folder can be renamed while a file in it is open.
// Windows refuses this.
const renameLocked = false

// freeBytes returns how many bytes this user may still write on the disk of
// dir.
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
