package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/hub"
)

// hereName is the reference that means the room of the current folder.
const hereName = "."

// roomRef is how a command names its room: by id, by project/room, or by slug or
// name alone where one room of the hub has it; with --project by slug or name in that
// project. Without a reference it is the room that is bound to a folder.
type roomRef struct {
	project string // --project; may be empty
	room    string // empty: the room of the folder
	folder  string // empty: the current one
}

// Where a room is named by a flag, its usage is one of these.
const (
	roomUsage      = "`room`, by its id, slug or project/slug (default the one that is bound to the current folder)"
	roomOnlyUsage  = "only this `room`, by its id, slug or project/slug; . is the one that is bound to the current folder"
	projectUsage   = "`project` of the room, by its id, slug or name"
	somewhere      = hub.RoomID("r_0") // stands for a room that only the hub can find, while the rest of an input is checked
	emptyReference = "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"
)

// addRoom declares --room.
func (r *roomRef) addRoom(f *pflag.FlagSet, usage string) { f.StringVar(&r.room, "room", "", usage) }

// addProject declares --project of a command whose argument names the room.
func (r *roomRef) addProject(f *pflag.FlagSet) { f.StringVar(&r.project, "project", "", projectUsage) }

// takeRoom takes the reference from an argument, if there is one.
func (r *roomRef) takeRoom(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if r.room = args[0]; r.room == "" {
			return usage(emptyReference, "the room cannot be empty")
		}
	}
	return r.checkRoom(cmd)
}

// checkRoom refuses flags that were given without a value, such as an empty variable of a
// script.
func (r *roomRef) checkRoom(cmd *cobra.Command) error {
	if r.room == "" && cmd.Flags().Changed("room") {
		return usage(emptyReference, "--room cannot be empty")
	}
	if r.project == "" && cmd.Flags().Changed("project") {
		return usage("name the project by its id, slug or name; see: hubcli project list", "--project is missing")
	}
	return nil
}

// findRoom returns the room.
func (r *roomRef) findRoom(ctx context.Context, c *client.Client) (hub.Room, error) {
	if r.room != "" && r.room != hereName {
		return hub.FindRoom(ctx, c, hub.RoomRef{Project: r.project, Room: r.room})
	}
	got, err := r.boundRoom(ctx, c)
	if err != nil || r.project == "" {
		return got, err
	}
	return c.Room(ctx, hub.RoomRef{Project: r.project, Room: string(got.RoomID)}) // refuses that of another project
}

// roomID is findRoom for commands that need no more than the id. An id costs no call.
func (r *roomRef) roomID(ctx context.Context, c *client.Client) (hub.RoomID, error) {
	if hub.IsRoomID(r.room) && r.project == "" {
		return hub.RoomID(r.room), nil
	}
	got, err := r.findRoom(ctx, c)
	return got.RoomID, err
}

// onlyRoom is roomID for a listing, which without a reference is about all rooms.
func (r *roomRef) onlyRoom(ctx context.Context, c *client.Client) (hub.RoomID, error) {
	if r.room == "" {
		return "", nil
	}
	return r.roomID(ctx, c)
}

// boundRoom returns the room of the nearest bound folder.
func (r *roomRef) boundRoom(ctx context.Context, c *client.Client) (hub.Room, error) {
	folder := r.folder
	if folder == "" {
		folder = "."
	}
	path, err := pathArgument([]string{folder})
	if err != nil {
		return hub.Room{}, err
	}
	got, err := c.Resolve(ctx, path)
	if err != nil {
		return hub.Room{}, err
	}
	if !got.Bound || got.Room == nil {
		return hub.Room{}, usage("name the room by its id, slug or project/slug; or make one for the repository with: hubcli init; or bind one that is there with: hubcli room bind <room>",
			"no room is bound to %s or a folder above it", path)
	}
	return *got.Room, nil
}
