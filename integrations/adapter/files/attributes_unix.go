//go:build linux || darwin

package files

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// attributes copies the extended attributes of a file, such as access lists and
// labels, to its replacement. Like cp, it leaves out those that may not be set.
func attributes(from, to *os.File) error {
	buf := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), buf)
	if errors.Is(err, unix.ENOTSUP) || n == 0 {
		return nil
	}
	if err != nil {
		return os.NewSyscallError("flistxattr", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		value := make([]byte, 64<<10)
		m, err := unix.Fgetxattr(int(from.Fd()), name, value)
		if err != nil {
			continue // gone, or not readable
		}
		err = unix.Fsetxattr(int(to.Fd()), name, value[:m], 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOTSUP) {
			return os.NewSyscallError("fsetxattr", err)
		}
	}
	return nil
}
