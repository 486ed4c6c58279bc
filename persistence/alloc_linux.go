package persistence

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"hubcli/internal/osfile"
)

// allocate gives f size bytes of real disk space.
func allocate(f *os.File, size int64) error {
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err == nil || osfile.IsFull(err) {
		return err
	}
	return writeNoise(f, size) // a file system without fallocate
}

// writesInPlace reports whether a block that a file has is there for a second
// write to it too. Where the file system copies on write it is not.
func writesInPlace(dir string) bool {
	const zfs, bcachefs = 0x2fc12fc1, 0xca451a4e
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.BTRFS_SUPER_MAGIC, zfs, bcachefs:
		return false
	}
	return true
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
	if err != nil && !osfile.IsFull(err) {
		return errors.ErrUnsupported
	}
	return err
}
