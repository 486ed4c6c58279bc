package osfile

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

// Reasons for which a path names no file of this machine.
var (
	ErrForeignPath  = errors.New("the path has the form of another system")
	ErrRelativePath = errors.New("the path is relative, and nobody knows from which folder")
)

// LockPath returns the one name of a file under which it is locked on this machine: absolute, a
// relative path taken from dir, and without symbolic links as far as it exists. The hub compares
// names alone. Backslashes count as slashes, as the hub takes them. Errors: ErrForeignPath for a
// path with a drive where there are none; ErrRelativePath without an absolute dir.
func LockPath(path, dir string) (string, error) {
	path = strings.ReplaceAll(path, `\`, "/")
	if runtime.GOOS != "windows" && hasDrive(path) {
		return "", ErrForeignPath
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(dir) {
			return "", ErrRelativePath
		}
		path = filepath.Join(dir, path)
	}
	return RealPath(path), nil
}

// hasDrive reports whether a path begins with the letter of a drive and a slash.
func hasDrive(path string) bool {
	if len(path) < 3 || path[1] != ':' || path[2] != '/' {
		return false
	}
	letter := path[0] | 0x20
	return letter >= 'a' && letter <= 'z'
}
