package opt

import (
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/term"
)

// Group makes cmd a command that only holds subcommands.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	var names []string
	for _, c := range subcommands {
		names = append(names, c.Name())
	}
	choice := names[0]
	if last := len(names) - 1; last > 0 {
		choice = strings.Join(names[:last], ", ") + " or " + names[last]
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := UnknownCommand(cmd, args); err != nil {
			return err
		}
		path := cmd.CommandPath()
		return term.Usage("see: "+path+" --help", "%s needs a subcommand: %s", path, choice)
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// UnknownCommand refuses arguments where a command was expected.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	fix := "see: " + cmd.CommandPath() + " --help"
	if meant := suggested(cmd, args[0]); meant != "" {
		fix = "did you mean " + meant + "? " + fix
	}
	return term.Usage(fix, "%s has no command %q", cmd.CommandPath(), args[0])
}
