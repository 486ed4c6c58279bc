//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// ID names an open file or folder within its file system: a copy of it has another name,
// and it keeps its own when it is renamed. The number of the device is left out, because
// it changes when a system starts anew.
func ID(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", &fs.PathError{Op: "stat", Path: f.Name(), Err: errors.ErrUnsupported}
	}
	return strconv.FormatUint(st.Ino, 10), nil
}
