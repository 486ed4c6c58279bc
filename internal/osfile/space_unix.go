//go:build unix

package osfile

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes this user may still write on the disk of a folder.
func Free(dir string) (int64, error) {
	st, err := statfs(dir)
	if err != nil {
		return 0, err
	}
	return int64(min(uint64(st.Bavail)*uint64(st.Bsize), 1<<62)), nil
}

// FreeFiles returns how many more files the disk of a folder has room for. Many file systems
// keep a fixed number of them, however large the files are; of others it returns
// math.MaxInt64.
func FreeFiles(dir string) (int64, error) {
	st, err := statfs(dir)
	if err != nil {
		return 0, err
	}
	if st.Files == 0 {
		return math.MaxInt64, nil
	}
	return int64(min(uint64(st.Ffree), math.MaxInt64)), nil
}

func statfs(dir string) (st unix.Statfs_t, err error) {
	for {
		err := unix.Statfs(dir, &st)
		if err == nil {
			return st, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return st, &os.PathError{Op: "statfs", Path: dir, Err: err}
		}
	}
}

// IsFull reports whether an error of the system says that a disk has no room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
