package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// mostLinks is how many symbolic links one path may lead over.
const mostLinks = 40

// RealPath follows the symbolic links of an absolute path, also those that lead to
// nothing yet. What cannot be looked at is taken as it is written.
func RealPath(path string) string {
	at, rest := filepath.Clean(path), ""
	for links := 0; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		} else if !errors.Is(err, fs.ErrNotExist) {
			// A file in the way of a folder, a loop, or none of this user's business:
			// what is above it may be followed all the same.
			links = mostLinks
		}
		if target, err := os.Readlink(at); err == nil && links < mostLinks {
			links++
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			at = filepath.Clean(target)
			continue
		}
		up := filepath.Dir(at)
		if up == at {
			return filepath.Join(at, rest)
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}
