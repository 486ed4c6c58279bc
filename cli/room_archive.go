package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newRoomArchive(env *Env) *cobra.Command {
	var o struct {
		baseURL
		roomRef
		undo bool
		json bool
	}
	cmd := &cobra.Command{
		Use:   "archive [room]",
		Short: "Take a room out of the lists, as the operator",
		Long: `Take a room out of the lists of rooms, and what is posted there out of polls that name no
channel. Nothing is deleted: every reference goes on to lead to the room, its members
can work in it, and folders stay bound. With --undo the room comes back.`,
		Example: `  hubcli room archive web-shop/checkout
  hubcli room archive web-shop/checkout --undo
  hubcli room list --project web-shop --archived`,
		Args: between(0, "room"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	o.addProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.undo, "undo", false, "take the room back into the lists")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.baseURL.add(env, cmd.Flags())
	return cmd
}
