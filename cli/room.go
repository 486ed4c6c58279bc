package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func newRoom(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "room",
		Short: "Manage rooms",
		Long: `Make rooms, look at them and bind folders to them. A room belongs to a project and
owns a channel, room-<room_id>, in which its team talks.

A command names a room by its id, as project/slug, or by its slug or name alone if
no other room of the hub has it. Without a name it takes the room that is bound to
the current folder. With --project the slug or name is that of a room of this
project.`,
		Example: `  hubcli room create --project web-shop --name "Checkout"
  hubcli room list --project web-shop
  hubcli room bind web-shop/checkout
  hubcli room show`,
	}
	return group(cmd, newRoomCreate(env), newRoomList(env), newRoomShow(env), newRoomStatus(env), newRoomBind(env), newRoomUnbind(env), newRoomLocks(env), newRoomGuard(env))
}

// project is --project of the commands that need one.
type project struct{ ref string }

// check refuses an empty reference.
func (p *project) check() error {
	if p.ref == "" {
		return usage("name the project by its id, slug or name; see: hubcli project list", "--project is missing")
	}
	return nil
}

type roomCreateOptions struct {
	baseURL
	project
	in   hub.RoomInput
	by   agent
	json bool
}

func newRoomCreate(env *Env) *cobra.Command {
	var o roomCreateOptions
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a room with its channel",
		Long: `Make a room of a project, and the channel that it owns.

If the project has a room that looks like the new one, nothing is made and the
look-alikes are listed: as a rule one of them is meant. If a sibling is needed all
the same, repeat the command with --force and say why in --force-reason, which is
recorded with the room.`,
		Example: `  hubcli room create --project web-shop --name "Checkout"
  hubcli room create --project web-shop --name "Checkout 2" --topic "the new flow" --by lead
  hubcli room create --project web-shop --name "checkout" --force --force-reason "a second team"`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := o.input()
			if err != nil {
				return err
			}
			return runRoomCreate(cmd.Context(), env, &o.baseURL, in, o.json)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.project.ref, "project", "", projectUsage+" (required)")
	f.StringVar(&o.in.Name, "name", "", "`name` of the room (required)")
	f.StringVar(&o.in.Topic, "topic", "", "what the room is `for`")
	o.by.addAs(env, f, "by", "`agent` that makes the room, if not the one in "+hook.EnvAgent)
	f.BoolVar(&o.in.Force, "force", false, "make the room although the project has one that looks like it")
	f.StringVar(&o.in.ForceReason, "force-reason", "", "`why` the sibling is needed; recorded with the room")
	f.BoolVar(&o.json, "json", false, "print the room as JSON")
	o.baseURL.add(env, f)
	return cmd
}

// input checks what can be checked without the hub.
func (o *roomCreateOptions) input() (hub.RoomInput, error) {
	in := o.in
	if err := o.project.check(); err != nil {
		return in, err
	}
	in.Project, in.Name = o.project.ref, strings.TrimSpace(in.Name)
	if in.Name == "" {
		return in, usage("name the room, for example --name Checkout", "--name is missing")
	}
	if in.Force && strings.TrimSpace(in.ForceReason) == "" {
		return in, usage("say in --force-reason why a second, similar room is needed", "--force needs --force-reason")
	}
	var err error
	in.CreatedBy, err = o.by.optional()
	return in, err
}

func runRoomCreate(ctx context.Context, env *Env, base *baseURL, in hub.RoomInput, asJSON bool) error {
	c, err := base.client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.CreateRoom(ctx, in)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "created room %s %s, channel %s\n", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug), out.Row.Channel)
	return err
}

func newRoomList(env *Env) *cobra.Command {
	var o struct {
		baseURL
		project
		json bool
	}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rooms of a project",
		Long: `List the rooms of a project by slug, one a line: id, slug, name and topic.

With --json each line is one room as JSON.`,
		Example: `  hubcli room list --project web-shop
  hubcli room list --project p_2 --json`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.project.check(); err != nil {
				return err
			}
			return runRoomList(cmd.Context(), env, &o.baseURL, o.project.ref, o.json)
		},
	}
	cmd.Flags().StringVar(&o.project.ref, "project", "", "`project`, by its id, slug or name (required)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print each room as one line of JSON")
	o.baseURL.add(env, cmd.Flags())
	return cmd
}

func runRoomList(ctx context.Context, env *Env, base *baseURL, ref string, asJSON bool) error {
	c, err := base.client()
	if err != nil {
		return err
	}
	defer c.Close()
	rows := hub.Walk(ctx, c.Rooms, hub.RoomsQuery{Project: ref})
	return printList(env, asJSON, "no rooms; make one with: hubcli room create --project "+ref+" --name <name>", rows, roomLine)
}

// roomLine is a room in a listing.
func roomLine(r hub.Room) string {
	line := fmt.Sprintf("%s  %s  %s", r.RoomID, r.Slug, r.Name)
	if r.Topic != "" {
		line += "  (" + r.Topic + ")"
	}
	return line
}

func newRoomShow(env *Env) *cobra.Command {
	var o struct {
		baseURL
		roomRef
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
		Args: between(0, "room"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.takeRoom(cmd, args); err != nil {
				return err
			}
			return runRoomShow(cmd.Context(), env, &o.baseURL, &o.roomRef, o.json)
		},
	}
	o.addProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.baseURL.add(env, cmd.Flags())
	return cmd
}

func runRoomShow(ctx context.Context, env *Env, base *baseURL, ref *roomRef, asJSON bool) error {
	c, err := base.client()
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := ref.findRoom(ctx, c)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Stdout, r)
	}
	rows := [][2]string{
		{"room", string(r.RoomID)},
		{"slug", r.Slug},
		{"name", r.Name},
		{"topic", orNone(r.Topic)},
		{"project", string(r.ProjectID)},
		{"channel", string(r.Channel)},
		{"created", r.CreatedAt.String() + " by " + orNobody(r.CreatedBy)},
	}
	rows = append(rows, [2]string{"locks", string(r.Locks)}, [2]string{"guard", guardText(&r)})
	if r.ForceReason != "" {
		rows = append(rows, [2]string{"forced", r.ForceReason})
	}
	for _, path := range r.Bindings {
		rows = append(rows, [2]string{"bound", path})
	}
	return printRows(env.Stdout, rows)
}

func orNobody(id hub.AgentID) string {
	if id == "" {
		return "nobody named"
	}
	return string(id)
}
