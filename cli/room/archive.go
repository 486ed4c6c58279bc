package room

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

// roomArchiving is what room archive and room unarchive share.
type roomArchiving struct {
	opt.BaseURL
	list.RoomRef
	undo bool
	json bool
}

func newRoomArchive(env *term.Env) *cobra.Command {
	var o roomArchiving
	cmd := o.command(env, &cobra.Command{
		Use:   "archive <room>",
		Short: "Take a room out of the lists, as the operator",
		Long: `Take a room out of the lists of rooms, and what is posted there out of polls that name no
channel. Its tasks and runs are listed no more either. Nothing is deleted: every
reference goes on to lead to the room, what was said there can be read and searched, its
tasks can be ended, and folders stay bound. Posts to its channel and new tasks there are
refused. "hubcli room unarchive" takes the room back. . is the room that is bound to the
current folder. The command says how much goes out of the lists with the room.`,
		Example: `  hubcli room archive web-shop/checkout
  hubcli room unarchive web-shop/checkout
  hubcli room list --project web-shop --archived`,
		Args: opt.Between(0, "room"),
	})
	cmd.Flags().BoolVar(&o.undo, "undo", false, "take the room back into the lists, as unarchive does")
	return cmd
}

func newRoomUnarchive(env *term.Env) *cobra.Command {
	o := roomArchiving{undo: true}
	return o.command(env, &cobra.Command{
		Use:   "unarchive <room>",
		Short: "Take an archived room back into the lists, as the operator",
		Long: `Take an archived room back into the lists. A room that was archived with its project
comes back with the project: "hubcli project unarchive".`,
		Example: `  hubcli room unarchive web-shop/checkout`,
		Args:    opt.Between(0, "room"),
	})
}

// command completes a command that archives a room or takes it back.
func (o *roomArchiving) command(env *term.Env, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return term.Usage("name it, or write . for the one that is bound to the current folder", "it is not said which room is meant")
		}
		if err := o.TakeRoom(cmd, args); err != nil {
			return err
		}
		c, err := o.Client()
		if err != nil {
			return err
		}
		defer c.Close()
		was, err := o.FindRoom(cmd.Context(), c)
		if err != nil {
			return err
		}
		out, err := c.ArchiveRoom(cmd.Context(), was.RoomID, hub.ArchiveInput{Archived: !o.undo})
		if err != nil {
			return err
		}
		if o.json {
			return term.PrintJSON(env.Stdout, out.Row)
		}
		name := fmt.Sprintf("room %s %s", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug))
		if _, err := fmt.Fprintln(env.Stdout, list.ArchivedText(name, was.Archived == out.Row.Archived, out.Row.Archived)); err != nil || o.undo {
			return err
		}
		return printWentWith(cmd.Context(), env, c, was.RoomID)
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

// printWentWith says what goes out of the lists with a room.
func printWentWith(ctx context.Context, env *term.Env, c *client.Client, id hub.RoomID) error {
	c = c.AsOperator() // it sees also the tasks of direct messages
	status, err := c.RoomStatus(ctx, hub.StatusQuery{RoomID: id, All: true})
	if err != nil {
		return err
	}
	tasks, err := hub.All(ctx, c.Tasks, hub.TasksQuery{RoomID: id, Active: true, Limit: hub.MaxPageRows})
	if err != nil {
		return err
	}
	runs, err := hub.All(ctx, c.Runs, hub.RunsQuery{RoomID: id, Active: true, Limit: hub.MaxPageRows})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "out of the lists with it: %s, %s, %s\n", overview.Count(status.SeatCount, "seat"),
		overview.Count(len(tasks), "open task"), overview.Count(len(runs), "running run"))
	return err
}
