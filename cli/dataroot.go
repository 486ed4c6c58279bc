package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

func newDataRoot(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "data-root",
		Short: "Print the resolved data root",
		Long: `Print the folder in which hubcli keeps what belongs to this user: the default
store (app.db), locks and settings. Nothing is created.

It is HUB_DATA_ROOT if that is set; else the usual place of the system:
${XDG_DATA_HOME:-~/.local/share}/hubcli on Linux,
~/Library/Application Support/hubcli on macOS, %LOCALAPPDATA%\hubcli on Windows.`,
		Example: `  hubcli data-root
  HUB_DATA_ROOT=/srv/hub hubcli data-root`,
		Args: arity(),
		RunE: func(*cobra.Command, []string) error {
			root, err := env.dataRoot()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Stdout, root)
			return err
		},
	}
}

// dataRoot resolves the folder of what belongs to this user.
func (e *Env) dataRoot() (string, error) { return dataRoot(e.Getenv, runtime.GOOS) }

// movedDataRoot reports whether the data root is elsewhere than a process finds it
// that has only the usual variables of a user.
func (e *Env) movedDataRoot() bool {
	return e.Getenv("HUB_DATA_ROOT") != "" || runtime.GOOS == "linux" && e.Getenv("XDG_DATA_HOME") != ""
}

func dataRoot(getenv func(string) string, goos string) (string, error) {
	const name = "hubcli"
	if root := getenv("HUB_DATA_ROOT"); root != "" {
		return absolute("HUB_DATA_ROOT", root)
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
	return "", usage("set HUB_DATA_ROOT to a folder", "the data root cannot be told: the environment names no home folder")
}

// makeDataRoot is dataRoot, created for this user alone if need be. A folder
// that exists keeps its mode: it may be somebody's choice.
func (e *Env) makeDataRoot(sub ...string) (string, error) {
	root, err := e.dataRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(append([]string{root}, sub...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &Failure{
			Exit: ExitStore, Err: err,
			Sentence: fmt.Sprintf("the data root cannot be made: %v", err),
			Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
		}
	}
	return dir, nil
}
