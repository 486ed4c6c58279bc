//go:build unix

package osfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes this user may still write on the disk of a folder.
func Free(dir string) (int64, error) {
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

// IsFull reports whether an error of the system says that a disk has no room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
