package hubfile

import (
	"errors"
	"fmt"
	"path/filepath"
)

// DataRoot resolves the folder of what belongs to this user on a system of that
// GOOS. It creates nothing.
func DataRoot(getenv func(string) string, goos string) (string, error) {
	const name = "hubcli"
	if root := getenv("HUB_DATA_ROOT"); root != "" {
		abs, err := filepath.Abs(root)
		if err != nil {
			return "", fmt.Errorf("HUB_DATA_ROOT cannot be resolved: %w", err)
		}
		return abs, nil
	}
	home := getenv("HOME")
	switch goos {
	case "windows":
		if local := getenv("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, name), nil
		}
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", name), nil
		}
	default:
		// The XDG rules: a relative value counts as unset.
		if xdg := getenv("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
			return filepath.Join(xdg, name), nil
		}
		if home != "" {
			return filepath.Join(home, ".local", "share", name), nil
		}
	}
	return "", errors.New("the data root cannot be told: the environment names no home folder")
}

// DataRootMoved reports whether HUB_DATA_ROOT or XDG_DATA_HOME moves the data root: a process
// without these variables looks for it elsewhere.
func DataRootMoved(getenv func(string) string, goos string) bool {
	return getenv("HUB_DATA_ROOT") != "" || goos == "linux" && getenv("XDG_DATA_HOME") != ""
}
