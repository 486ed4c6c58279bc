package persistence

import (
	"errors"
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

// extendFile gives the first size bytes of a file real disk space without a change
// of its content or length. errors.ErrUnsupported if the file system cannot.
func extendFile(name string, size int64) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil && !isNoSpace(err) {
		return errors.ErrUnsupported
	}
	return err
}
