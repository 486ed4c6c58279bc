//go:build unix

package hook

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file is this user's.
func ours(_ string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func permissions(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() }
