package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// New makes the command room.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "room",
		Short: "Manage rooms",
		Long: `Make rooms, look at them and bind folders to them. A room belongs to a project and
owns a channel, room-<room_id>, in which its team talks.

A command names a room by its id, as project/slug, or by its slug or name alone if
no other room of the hub has it. Without a name it takes the room that is bound to
the current folder. With --project the slug or name is that of a room of this
project. Without --project, create and list take the project of the bound room.`,
		Example: `  hubcli room create --project web-shop --name "Checkout"
  hubcli room list --project web-shop
  hubcli room bind web-shop/checkout
  hubcli room show`,
	}
	return opt.Group(cmd, newRoomCreate(env), newRoomList(env), newRoomShow(env), newRoomStatus(env), newRoomBind(env), newRoomUnbind(env), newRoomLocks(env), newRoomGuard(env), newRoomAllowHost(env),
		newRoomRename(env), newRoomReplay(env), newRoomArchive(env), newRoomUnarchive(env))
}

// project is --project of the commands that make and list rooms. Without it they take
// the project of the room that is bound to the current folder.
type project struct{ ref string }

func (p *project) add(f *pflag.FlagSet) {
	f.StringVar(&p.ref, "project", "", "`project`, by its id, slug or name (default that of the room that is bound to the current folder)")
}

// check refuses a reference that was given without a value.
func (p *project) check(cmd *cobra.Command) error {
	return (&list.RoomRef{Project: p.ref}).CheckRoom(cmd)
}

// find returns a reference that the hub knows.
func (p *project) find(ctx context.Context, c *client.Client) (string, error) {
	if p.ref != "" {
		return p.ref, nil
	}
	room, err := (&list.RoomRef{}).BoundRoom(ctx, c)
	var unbound *term.Failure
	if errors.As(err, &unbound) {
		unbound.Fix = "name the project with --project, or bind a room with: hubcli room bind <room>; see: hubcli project list"
	}
	return string(room.ProjectID), err
}

type roomCreateOptions struct {
	opt.BaseURL
	project
	in   hub.RoomInput
	by   opt.Agent
	json bool
}

func newRoomCreate(env *term.Env) *cobra.Command {
	var o roomCreateOptions
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a room with its channel",
		Long: `Make a room of a project, and the channel that it owns.

Without --project it is the project of the room that is bound to the current folder.
If the project has a room that looks like the new one, nothing is made and the
look-alikes are listed: as a rule one of them is meant. If a sibling is needed all
the same, repeat the command with --force and say why in --force-reason, which is
recorded with the room.`,
		Example: `  hubcli room create --project web-shop --name "Checkout"
  hubcli room create --project web-shop --name "Checkout 2" --topic "the new flow" --by lead
  hubcli room create --project web-shop --name "checkout" --force --force-reason "a second team"`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := o.input(cmd)
			if err != nil {
				return err
			}
			return runRoomCreate(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.project.add(f)
	f.StringVar(&o.in.Name, "name", "", "`name` of the room (required)")
	f.StringVar(&o.in.Topic, "topic", "", "what the room is `for`")
	o.by.AddAs(env, f, "by", "`agent` that makes the room, if not the one in "+hook.EnvAgent)
	f.BoolVar(&o.in.Force, "force", false, "make the room although the project has one that looks like it")
	f.StringVar(&o.in.ForceReason, "force-reason", "", "`why` the sibling is needed; recorded with the room")
	f.BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// input checks what can be checked without the hub.
func (o *roomCreateOptions) input(cmd *cobra.Command) (hub.RoomInput, error) {
	in := o.in
	if err := o.project.check(cmd); err != nil {
		return in, err
	}
	in.Name = strings.TrimSpace(in.Name)
	if in.Name == "" {
		return in, term.Usage("name the room, for example --name Checkout", "--name is missing")
	}
	if in.Force && strings.TrimSpace(in.ForceReason) == "" {
		return in, term.Usage("say in --force-reason why a second, similar room is needed", "--force needs --force-reason")
	}
	var err error
	in.CreatedBy, err = o.by.Optional()
	return in, err
}

func runRoomCreate(ctx context.Context, env *term.Env, o *roomCreateOptions, in hub.RoomInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.Project, err = o.project.find(ctx, c); err != nil {
		return err
	}
	out, err := c.CreateRoom(ctx, in)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "created room %s %s, channel %s\n", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug), out.Row.Channel)
	return err
}

func newRoomList(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		project
		archived bool
		all      bool
		json     bool
	}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rooms of a project, or of all projects",
		Long: `List the rooms of a project by slug, one a line: id, slug, name and topic. Without
--project it is the project of the room that is bound to the current folder; with -A it
is every project, and its slug stands before that of the room. Rooms that
are archived are listed only with --archived, and say so. With --archived, where nothing
names a project, these are the archived rooms of all projects.`,
		Example: `  hubcli room list --project web-shop
  hubcli room list -A
  hubcli room list --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.project.check(cmd); err != nil {
				return err
			}
			if o.all && cmd.Flags().Changed("project") {
				return term.Usage("leave one of them out", "--all-projects and --project do not go together")
			}
			if o.all {
				return runAllRooms(cmd.Context(), env, &o.BaseURL, o.archived, o.json)
			}
			return runRoomList(cmd.Context(), env, &o.BaseURL, &o.project, o.archived, o.json)
		},
	}
	o.project.add(cmd.Flags())
	cmd.Flags().BoolVar(&o.archived, "archived", false, "archived rooms too")
	cmd.Flags().BoolVarP(&o.all, "all-projects", "A", false, "the rooms of all projects")
	cmd.Flags().BoolVar(&o.json, "json", false, list.JSONRows)
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runRoomList(ctx context.Context, env *term.Env, base *opt.BaseURL, of *project, archived, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	ref, err := of.find(ctx, c)
	if isUnbound(err) && archived {
		return printRoomsOfAll(ctx, env, c, asJSON, "no room is archived", func(r *hub.Room) bool { return r.Archived })
	}
	if err != nil {
		return err
	}
	rows := hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: ref, Archived: archived})
	none := "no rooms; make one with: hubcli room create --project " + ref + " --name <name>"
	all, err := list.FirstOf(0, rows)
	if err != nil {
		return err
	}
	if len(all) == 0 && !archived {
		hidden, err := list.FirstOf(0, hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: ref, Archived: true}))
		if err != nil {
			return err
		}
		if len(hidden) > 0 {
			none = fmt.Sprintf("no rooms, but %d archived; see: hubcli room list --project %s --archived", len(hidden), ref)
		}
	}
	return list.PrintList(env, asJSON, none, list.Each(all), roomLine)
}

// isUnbound reports whether no room is bound to the current folder.
func isUnbound(err error) bool { return errors.Is(err, list.ErrUnbound) }

// runAllRooms lists the rooms of all projects.
func runAllRooms(ctx context.Context, env *term.Env, base *opt.BaseURL, archived, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	return printRoomsOfAll(ctx, env, c, asJSON, "there is no room; make one with: hubcli init", func(r *hub.Room) bool { return archived || !r.Archived })
}

// printRoomsOfAll prints the rooms of all projects that keep keeps. The slug of the project tells
// them apart.
func printRoomsOfAll(ctx context.Context, env *term.Env, c *client.Client, asJSON bool, none string, keep func(*hub.Room) bool) error {
	rooms, err := list.FirstOf(0, hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Archived: true}))
	if err != nil {
		return err
	}
	rooms = slices.DeleteFunc(rooms, func(r hub.Room) bool { return !keep(&r) })
	of := map[hub.ProjectID]string{}
	for p, err := range hub.Walk(ctx, c.Projects, hub.ProjectsQuery{Archived: true}) {
		if err != nil {
			return err
		}
		of[p.ProjectID] = p.Slug
	}
	return list.PrintList(env, asJSON, none, list.Each(rooms), func(r hub.Room) string {
		r.Slug = of[r.ProjectID] + "/" + r.Slug
		return roomLine(r)
	})
}

// roomLine is a room in a listing.
func roomLine(r hub.Room) string {
	line := fmt.Sprintf("%s  %s  %s", r.RoomID, r.Slug, r.Name)
	if r.Topic != "" {
		line += "  (" + r.Topic + ")"
	}
	if r.Archived {
		line += "  archived"
	}
	return line
}

func newRoomShow(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		json bool
	}
	cmd := &cobra.Command{
		Use:   "show [room]",
		Short: "Show a room",
		Long: `Show a room: its project, channel, topic and the folders bound to it. Without a name
it is the room that is bound to the current folder.`,
		Example: `  hubcli room show
  hubcli room show checkout
  hubcli room show web-shop/checkout --json`,
		Args: opt.Between(0, "room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.TakeRoom(cmd, args); err != nil {
				return err
			}
			return runRoomShow(cmd.Context(), env, &o.BaseURL, &o.RoomRef, o.json)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

func runRoomShow(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := ref.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, r)
	}
	rows := [][2]string{
		{"room", string(r.RoomID)},
		{"slug", r.Slug},
		{"name", r.Name},
		{"topic", term.OrNone(r.Topic)},
		{"project", string(r.ProjectID)},
		{"channel", string(r.Channel)},
		{"created", r.CreatedAt.String() + " by " + term.OrNobody(r.CreatedBy)},
	}
	rows = append(rows, [2]string{"locks", string(r.Locks)}, [2]string{"guard", guardText(&r)})
	if len(r.AllowedHosts) > 0 {
		rows = append(rows, [2]string{"browser", "reaches " + reachText(&r)})
	}
	if r.Archived {
		rows = append(rows, [2]string{"archived", "out of lists"})
	}
	if r.ForceReason != "" {
		rows = append(rows, [2]string{"forced", r.ForceReason})
	}
	for _, path := range r.Bindings {
		rows = append(rows, [2]string{"bound", path})
	}
	return term.PrintRows(env.Stdout, rows)
}
