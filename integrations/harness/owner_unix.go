//go:build unix

package harness

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file is this user's.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Getuid()
}
