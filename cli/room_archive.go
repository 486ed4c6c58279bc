package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// roomArchiving is what room archive and room unarchive share.
type roomArchiving struct {
	baseURL
	roomRef
	undo bool
	json bool
}

func newRoomArchive(env *Env) *cobra.Command {
	var o roomArchiving
	cmd := o.command(env, &cobra.Command{
		Use:   "archive [room]",
		Short: "Take a room out of the lists, as the operator",
		Long: `Take a room out of the lists of rooms, and what is posted there out of polls that name no
channel. Its tasks and runs are listed no more either. Nothing is deleted: every
reference goes on to lead to the room, what was said there can be read and searched, its
tasks can be ended, and folders stay bound. Posts to its channel and new tasks there are
refused. "hubcli room unarchive" takes the room back.`,
		Example: `  hubcli room archive web-shop/checkout
  hubcli room unarchive web-shop/checkout
  hubcli room list --project web-shop --archived`,
		Args: between(0, "room"),
	})
	cmd.Flags().BoolVar(&o.undo, "undo", false, "take the room back into the lists, as unarchive does")
	return cmd
}

func newRoomUnarchive(env *Env) *cobra.Command {
	o := roomArchiving{undo: true}
	return o.command(env, &cobra.Command{
		Use:   "unarchive [room]",
		Short: "Take an archived room back into the lists, as the operator",
		Long: `Take an archived room back into the lists. A room that was archived with its project
comes back with the project: "hubcli project unarchive".`,
		Example: `  hubcli room unarchive web-shop/checkout`,
		Args:    between(0, "room"),
	})
}

// command completes a command that archives a room or takes it back.
func (o *roomArchiving) command(env *Env, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.takeRoom(cmd, args); err != nil {
			return err
		}
		c, err := o.client()
		if err != nil {
			return err
		}
		defer c.Close()
		id, err := o.roomID(cmd.Context(), c)
		if err != nil {
			return err
		}
		out, err := c.ArchiveRoom(cmd.Context(), id, hub.ArchiveInput{Archived: !o.undo})
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(env.Stdout, out.Row)
		}
		state := "archived"
		if !out.Row.Archived {
			state = "not archived"
		}
		_, err = fmt.Fprintf(env.Stdout, "room %s %s is %s\n", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug), state)
		return err
	}
	o.addProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.baseURL.add(env, cmd.Flags())
	return cmd
}
