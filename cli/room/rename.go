package room

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newProjectRename(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "rename <project> <name>",
		Short: "Give a project another name, as the operator",
		Long: `Give a project, named by its id, slug or name, another name. Its slug stays, so every
reference by slug or id goes on to lead to it.`,
		Example: `  hubcli project rename web-shop "Web store"`,
		Args:    opt.Arity("project", "name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			project, err := c.Project(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out, err := c.RenameProject(cmd.Context(), string(project.ProjectID), hub.RenamedInput{Name: args[1]})
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, out.Row)
			}
			_, err = fmt.Fprintf(env.Stdout, "project %s %s is now named \"%s\"\n", out.Row.ProjectID, peertext.TerminalLine(out.Row.Slug), peertext.TerminalLine(out.Row.Name))
			return err
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the project as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func newRoomRename(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		json bool
	}
	cmd := &cobra.Command{
		Use:   "rename <room> <name>",
		Short: "Give a room another name, as the operator",
		Long: `Give a room another name. Its slug and its channel stay, so every reference by slug or
id goes on to lead to it, and the agents in it notice nothing.`,
		Example: `  hubcli room rename web-shop/checkout "Check-out and payment"
  hubcli room rename . "Till"`,
		Args: opt.Arity("room", "name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args[:1]); err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			id, err := o.RoomID(cmd.Context(), c)
			if err != nil {
				return err
			}
			out, err := c.RenameRoom(cmd.Context(), id, hub.RenamedInput{Name: args[1]})
			if e, ok := errors.AsType[*hub.Error](err); ok && e.Code == hub.CodeSimilarRoomExists {
				return term.Fail(term.ExitRefused, "choose another name: two rooms of one name could not be told apart", "%s", e.Message)
			}
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, out.Row)
			}
			_, err = fmt.Fprintf(env.Stdout, "room %s %s is now named \"%s\"\n", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug), peertext.TerminalLine(out.Row.Name))
			return err
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}
