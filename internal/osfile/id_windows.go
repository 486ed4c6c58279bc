package osfile

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// ID names an open file or folder within its file system: a copy of it has another name,
// and it keeps its own when it is renamed.
func ID(f *os.File) (string, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return "", err
	}
	return strconv.FormatUint(uint64(info.FileIndexHigh)<<32|uint64(info.FileIndexLow), 10), nil
}

// Came is when a file came to its file system. A program may give a file any time of its
// last change; this one it gets from the system.
func Came(info fs.FileInfo) (at time.Time, ok bool) {
	d, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(0, d.CreationTime.Nanoseconds()), true
}
