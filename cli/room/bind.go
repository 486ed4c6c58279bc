package room

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/homeroom"
	"hubcli/internal/peertext"
)

func newRoomBind(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		yes, json bool
	}
	cmd := &cobra.Command{
		Use:   "bind <room> [path]",
		Short: "Bind a folder to a room",
		Long: `Bind a folder, the current one if no path is given, to a room: agents that work in
it or below it find the room with "hubcli resolve". A folder is bound to one room at
most; a folder below it may be bound to another, which then counts there. All work
trees of a git repository share the binding.

The root of the file system, a home folder and the folder of temporary files are bound
only if you say so when asked, or with --yes: every agent below is in the room then.`,
		Example: `  hubcli room bind checkout
  hubcli room bind web-shop/checkout services/checkout`,
		Args: opt.Between(1, "room", "path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args); err != nil {
				return err
			}
			path, err := opt.PathArgument(args[1:])
			if err != nil {
				return err
			}
			if err := mayBeWide(cmd.Context(), env, path, o.yes); err != nil {
				return err
			}
			return runRoomBind(cmd.Context(), env, &o.BaseURL, &o.RoomRef, path, o.json)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "bind a folder that holds everything, too, without a question")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

// mayBeWide asks before a folder is bound in which nearly every agent of the machine works.
func mayBeWide(ctx context.Context, env *term.Env, path string, yes bool) error {
	if plain, err := filepath.EvalSymlinks(path); err == nil {
		path = plain
	}
	why := homeroom.WideOf(env.Getenv).Why(path)
	if why == "" || yes {
		return nil
	}
	if env.Terminal == nil || !env.Terminal() {
		return term.Usage("bind the folder of the work; or add --yes if all of it is meant", "%s is %s: every agent below it would be in the room", path, why)
	}
	return opt.Agree(ctx, env, path+" is "+why+": every agent below it would be in the room. Bind it?")
}

func runRoomBind(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, path string, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := ref.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	out, err := c.BindRoom(ctx, room.RoomID, hub.BindingInput{Path: path})
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	verb := "bound"
	if !out.Created {
		verb = "already bound"
	}
	_, err = fmt.Fprintf(env.Stdout, "%s %s to room %s %s\n", verb, peertext.TerminalLine(path), out.Row.RoomID, peertext.TerminalLine(out.Row.Slug))
	return err
}

func newRoomUnbind(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "unbind [path]",
		Short: "Take the binding of a folder back",
		Long: `Take back the binding of a folder, the current one if no path is given. The path is
the folder's or the one that "hubcli room show" lists; the folder need not exist any
more. If the path is a link, the folder that it leads to now is tried first. A folder
that is bound only through one above it has no binding of its own.`,
		Example: `  hubcli room unbind
  hubcli room unbind services/checkout`,
		Args: opt.Between(0, "path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := opt.PathArgument(args)
			if err != nil {
				return err
			}
			return runRoomUnbind(cmd.Context(), env, &o.BaseURL, path, o.json)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runRoomUnbind(ctx context.Context, env *term.Env, base *opt.BaseURL, path string, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	row, err := unbind(ctx, c, path)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, row)
	}
	_, err = fmt.Fprintf(env.Stdout, "unbound %s from room %s %s\n", peertext.TerminalLine(path), row.RoomID, peertext.TerminalLine(row.Slug))
	return err
}

// unbind takes back one binding of a path: the binding of the folder that it
// names, else the one that was made with this text. In the second case the
// folder may be gone, or the path may be a link that now leads elsewhere.
func unbind(ctx context.Context, c *client.Client, path string) (hub.Room, error) {
	in := hub.BindingInput{Path: path}
	got, err := c.Resolve(ctx, path)
	if err != nil {
		return hub.Room{}, err
	}
	if got.Bound && got.RoomID != nil {
		out, err := c.UnbindRoom(ctx, *got.RoomID, in)
		if !errors.Is(err, &hub.Error{Code: hub.CodeNotBound}) {
			return out.Row, err
		}
	}
	for r, err := range hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Archived: true}) {
		if err != nil {
			return hub.Room{}, err
		}
		if slices.Contains(r.Bindings, path) {
			out, err := c.UnbindRoom(ctx, r.RoomID, in)
			return out.Row, err
		}
	}
	if got.Bound && got.BoundPath != nil {
		return hub.Room{}, term.Fail(term.ExitRefused, "unbind that one: hubcli room unbind "+peertext.TerminalLine(*got.BoundPath),
			"%s itself is not bound; it is found through %s", path, *got.BoundPath)
	}
	return hub.Room{}, term.Fail(term.ExitRefused, "list the bound folders with: hubcli room show <room>", "%s is not bound to a room", path)
}
