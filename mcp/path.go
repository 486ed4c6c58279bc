package mcp

import (
	"errors"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// lockPath returns the one name of a file that all programs of a machine have for it; see
// osfile.LockPath.
func (b *bridge) lockPath(given string) (string, error) {
	if err := hub.CheckName("file_path", given, hub.MaxFilePathChars); err != nil {
		return "", err
	}
	path, err := osfile.LockPath(given, b.link.Folder())
	switch {
	case errors.Is(err, osfile.ErrForeignPath):
		return "", hub.Invalid("file_path", "the path has a drive, and the bridge runs on a system without drives").
			WithFix("give the path that the file has on this system")
	case err != nil:
		return "", hub.Invalid("file_path", "the path is relative, and the folder of your project is not known").
			WithFix("give the absolute path of the file")
	}
	return path, nil
}
