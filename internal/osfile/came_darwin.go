package osfile

import (
	"io/fs"
	"syscall"
	"time"
)

// Came is when a file came to its file system, or was changed there last. A program may
// give a file any time of its last change; this one it gets from the system.
func Came(info fs.FileInfo) (at time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec), true
}
