//go:build unix

package relay

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from following a link and from waiting for the other
// end of a pipe, whatever was put in the place of the file that was looked at.
const openFlags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock takes the lock on the file, if nobody has it. The kernel drops it when
// the file is closed or the process ends, however that happens. An error means
// that the file system knows no locks.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// linkCount returns how many names the open file has.
func linkCount(_ *os.File, info os.FileInfo) (uint64, error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("relay: no link count of %s", info.Name())
	}
	return uint64(stat.Nlink), nil
}
