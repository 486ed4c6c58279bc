package files

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// dontWait is nothing here: no pipe can take a file's place.
const dontWait = 0

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

// syncFolder does nothing: NTFS journals the entries of a folder itself.
func syncFolder(*os.File) error { return nil }

// The rights are inherited from the user's profile, and a link count costs an
// open handle.
func links(fs.FileInfo) uint64             { return 1 }
func foreignFile(fs.FileInfo) string       { return "" }
func foreignFolder(fs.FileInfo) string     { return "" }
func likeness(*os.File, fs.FileInfo) error { return nil }
func attributes(_, _ *os.File) error       { return nil }
