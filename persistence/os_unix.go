//go:build unix

package persistence

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// renameLocked says whether a folder can be renamed while a file in it is open.
const renameLocked = true

// freeBytes returns how many bytes this user may still write on the disk of
// dir.
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
