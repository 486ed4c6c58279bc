//go:build unix

package persistence

import (
	"os"
	"syscall"
)

// renameLocked says whether a folder can be renamed while a file in it is open.
const renameLocked = true

// deleted reports whether a folder that is open has no name any more.
func deleted(folder *os.File) bool {
	info, err := folder.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
