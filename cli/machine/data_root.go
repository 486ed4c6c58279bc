package machine

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
)

// NewDataRoot makes the command data-root.
func NewDataRoot(env *term.Env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "data-root",
		Short: "Print the resolved data root",
		Long: `Print the folder in which hubcli keeps this user's data: the default store
(app.db), locks and settings. The command creates nothing.

It is HUB_DATA_ROOT if that is set, else the usual place of the system:
${XDG_DATA_HOME:-~/.local/share}/hubcli on Linux,
~/Library/Application Support/hubcli on macOS, %LOCALAPPDATA%\hubcli on Windows.`,
		Example: `  hubcli data-root
  HUB_DATA_ROOT=/srv/hub hubcli data-root`,
		Args: opt.Arity(),
		RunE: func(*cobra.Command, []string) error {
			root, err := env.DataRoot()
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(env.Stdout, map[string]string{"data_root": root})
			}
			_, err = fmt.Fprintln(env.Stdout, root)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
