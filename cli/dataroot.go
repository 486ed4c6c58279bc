package cli

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"hubcli/internal/hubfile"
)

func newDataRoot(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "data-root",
		Short: "Print the resolved data root",
		Long: `Print the folder in which hubcli keeps this user's data: the default store
(app.db), locks and settings. The command creates nothing.

It is HUB_DATA_ROOT if that is set, else the usual place of the system:
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

// dataRoot returns the folder of this user's data.
func (e *Env) dataRoot() (string, error) {
	root, err := hubfile.DataRoot(e.Getenv, runtime.GOOS)
	if err != nil {
		return "", usage("set HUB_DATA_ROOT to a folder", "%v", err)
	}
	return root, nil
}

// makeDataRoot creates the data root for this user alone if need be. A folder that
// exists keeps its mode: it may be somebody's choice.
func (e *Env) makeDataRoot() error {
	root, err := e.dataRoot()
	if err == nil {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return rootNotMade(err)
		}
	}
	return err
}

func rootNotMade(err error) *Failure {
	return &Failure{
		Exit: ExitRefused, Err: err,
		Sentence: fmt.Sprintf("the data root cannot be made: %v", err),
		Fix:      "set HUB_DATA_ROOT to a folder that you may write to",
	}
}
