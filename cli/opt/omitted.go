package opt

import (
	"github.com/spf13/cobra"

	"hubcli/cli/term"
)

// Omitted returns the maker of a command that this build of the program leaves out because of a tag of
// the Go toolchain. The command is in no list and says so when it is run.
func Omitted(name, tag string) func(*term.Env) *cobra.Command {
	return func(*term.Env) *cobra.Command {
		return &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return term.Usage("use a hubcli that was built without the tag "+tag, "this build of hubcli leaves out %q", name)
			},
		}
	}
}
