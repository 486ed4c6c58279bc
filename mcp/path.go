package mcp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hubcli/hub"
	"hubcli/mcp/session"
)

// mostLinks is how many symbolic links one path may lead over.
const mostLinks = 40

// lockPath returns the one name of a file that all bridges of a machine have for it:
// absolute, a relative path taken from the project's folder, and without symbolic
// links as far as it exists. The hub compares names alone.
func (b *bridge) lockPath(given string) (string, error) {
	if err := hub.CheckName("file_path", given, hub.MaxFilePathChars); err != nil {
		return "", err
	}
	path := filepath.FromSlash(strings.ReplaceAll(given, `\`, "/")) // as the hub takes them
	if !filepath.IsAbs(path) {
		dir := session.ProjectFolder(b.Getenv, os.Getwd)
		if dir == "" {
			return "", hub.Invalid("file_path", "the path is relative, and the folder of your project is not known").
				WithFix("give the absolute path of the file")
		}
		path = filepath.Join(dir, path)
	}
	return realPath(path), nil
}

// realPath follows the symbolic links of an absolute path, also those that lead to
// nothing yet. What cannot be looked at is taken as it is written.
func realPath(path string) string {
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
