//go:build unix

package storedir

import (
	"os"
	"syscall"
)

// RenameLocked says whether a folder can be renamed while a file in it is open.
const RenameLocked = true

// Deleted reports whether a folder that is open has no name any more.
func Deleted(folder *os.File) bool {
	info, err := folder.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
