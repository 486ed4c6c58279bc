package list

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
)

// ArchivedText says that a place is archived or taken back, and whether it was so before.
func ArchivedText(place string, was, archived bool) string {
	switch {
	case archived && was:
		return place + " is archived already"
	case archived:
		return "archived " + place
	case was:
		return place + " is in the lists already"
	}
	return "took back " + place
}

// Archiving archives what is named, or takes it back. It returns the row and what people are told.
type Archiving func(ctx context.Context, c *client.Client, name string) (row any, says string, err error)

// ArchiveCommand completes a command that archives what its argument names, or takes it back.
func ArchiveCommand(env *term.Env, cmd *cobra.Command, does Archiving) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := o.Client()
		if err != nil {
			return err
		}
		defer c.Close()
		row, says, err := does(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		if o.json {
			return term.PrintJSON(env.Stdout, row)
		}
		_, err = io.WriteString(env.Stdout, says)
		return err
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the row as JSON")
	return cmd
}
