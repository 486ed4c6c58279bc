package relay

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openFlags: os.Root follows no link of the last element that leaves the root,
// and the file that was opened is compared with the one that was looked at.
const openFlags = os.O_RDONLY

// tryLock takes the lock on the file, if nobody has it. The system drops it when
// the file is closed or the process ends, however that happens. An error means
// that the file system knows no locks. The locked byte lies behind any request,
// so that the lock hinders nobody from reading.
func tryLock(f *os.File) (bool, error) {
	beyond := windows.Overlapped{Offset: MaxRequestBytes + 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &beyond)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// linkCount returns how many names the open file has.
func linkCount(f *os.File, _ os.FileInfo) (uint64, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
