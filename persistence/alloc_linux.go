package persistence

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives f size bytes of real disk space.
func allocate(f *os.File, size int64) error {
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err == nil || isNoSpace(err) {
		return err
	}
	return writeNoise(f, size) // a file system without fallocate
}
