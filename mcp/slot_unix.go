//go:build unix

package mcp

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file is this user's.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// syncFolder makes a rename last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
