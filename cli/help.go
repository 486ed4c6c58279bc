package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
)

// printUsage writes how a command is called: its line, examples, commands and flags. It
// lists no hidden commands, but for the short names at the top. It is code and no template of cobra's: a program that links
// text/template keeps every exported method of every type, a tenth of its size.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	switch {
	case !cmd.HasParent():
		b.WriteString(groupedCommands(cmd))
	case cmd.HasAvailableSubCommands():
		b.WriteString("\n\nCommands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + strings.TrimRight(cmd.LocalFlags().FlagUsages(), " \n"))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nUse \"" + cmd.CommandPath() + " [command] --help\" for more about a command.")
	}
	b.WriteString("\n")
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// newHelp is cobra's help command, hidden and strict.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Show the help of a command",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			found := root
			for _, name := range args {
				next, rest, err := found.Find([]string{name})
				if err != nil || len(rest) > 0 || next == found {
					return opt.UnknownCommand(found, []string{name})
				}
				found = next
			}
			return found.Help()
		},
	}
}
