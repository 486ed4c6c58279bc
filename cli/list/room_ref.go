package list

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// ErrUnbound says that no room is named, and none is bound to the folder. It comes with a failure
// that says so to people.
var ErrUnbound = errors.New("")

// hereName is the reference that means the room of the current folder.
const hereName = "."

// RoomRef is how a command names its room: by id, by project/room, or by slug or
// name alone where one room of the hub has it; with --project by slug or name in that
// project. Without a reference it is the room that is bound to a folder.
type RoomRef struct {
	Project string // --project; may be empty
	Room    string // empty: the room of the folder
	Folder  string // empty: the current one
}

// Where a room is named by a flag, its usage is one of these.
const (
	RoomUsage      = "`room`, by its id, slug or project/slug (default the one that is bound to the current folder)"
	RoomOnlyUsage  = "only this `room`, by its id, slug or project/slug; . is the one that is bound to the current folder"
	projectUsage   = "`project` of the room, by its id, slug or name"
	Somewhere      = hub.RoomID("r_0") // stands for a room that only the hub can find, while the rest of an input is checked
	emptyReference = "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"
)

// AddRoom declares --room.
func (r *RoomRef) AddRoom(f *pflag.FlagSet, usage string) { f.StringVar(&r.Room, "room", "", usage) }

// AddProject declares --project of a command whose argument names the room.
func (r *RoomRef) AddProject(f *pflag.FlagSet) { f.StringVar(&r.Project, "project", "", projectUsage) }

// TakeRoom takes the reference from an argument, if there is one.
func (r *RoomRef) TakeRoom(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if r.Room = args[0]; r.Room == "" {
			return term.Usage(emptyReference, "the room cannot be empty")
		}
	}
	return r.CheckRoom(cmd)
}

// CheckRoom refuses flags that were given without a value, such as an empty variable of a
// script.
func (r *RoomRef) CheckRoom(cmd *cobra.Command) error {
	if r.Room == "" && cmd.Flags().Changed("room") {
		return term.Usage(emptyReference, "--room cannot be empty")
	}
	if r.Project == "" && cmd.Flags().Changed("project") {
		return term.Usage("name the project by its id, slug or name; see: hubcli project list", "--project is missing")
	}
	return nil
}

// FindRoom returns the room.
func (r *RoomRef) FindRoom(ctx context.Context, c *client.Client) (hub.Room, error) {
	if r.Room != "" && r.Room != hereName {
		return hub.FindRoom(ctx, c, hub.RoomRef{Project: r.Project, Room: r.Room})
	}
	got, err := r.BoundRoom(ctx, c)
	if err != nil || r.Project == "" {
		return got, err
	}
	return c.Room(ctx, hub.RoomRef{Project: r.Project, Room: string(got.RoomID)}) // refuses that of another project
}

// RoomID is FindRoom for commands that need no more than the id. An id costs no call.
func (r *RoomRef) RoomID(ctx context.Context, c *client.Client) (hub.RoomID, error) {
	if hub.IsRoomID(r.Room) && r.Project == "" {
		return hub.RoomID(r.Room), nil
	}
	got, err := r.FindRoom(ctx, c)
	return got.RoomID, err
}

// OnlyRoom is roomID for a listing, which without a reference is about all rooms.
func (r *RoomRef) OnlyRoom(ctx context.Context, c *client.Client) (hub.RoomID, error) {
	if r.Room == "" {
		return "", nil
	}
	return r.RoomID(ctx, c)
}

// BoundRoom returns the room of the nearest bound folder.
func (r *RoomRef) BoundRoom(ctx context.Context, c *client.Client) (hub.Room, error) {
	folder := r.Folder
	if folder == "" {
		folder = "."
	}
	path, err := opt.PathArgument([]string{folder})
	if err != nil {
		return hub.Room{}, err
	}
	got, err := c.Resolve(ctx, path)
	if err != nil {
		return hub.Room{}, err
	}
	if !got.Bound || got.Room == nil {
		return hub.Room{}, fmt.Errorf("%w%w", ErrUnbound, term.Usage("name the room by its id, slug or project/slug; or make one for the repository with: hubcli init; or bind one that is there with: hubcli room bind <room>",
			"no room is bound to %s or a folder above it", path))
	}
	return *got.Room, nil
}
