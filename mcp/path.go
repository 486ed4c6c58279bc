package mcp

import (
	"os"
	"path/filepath"
	"strings"

	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/mcp/session"
)

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
	return osfile.RealPath(path), nil
}
