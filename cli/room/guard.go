package room

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newRoomGuard(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		json bool
	}
	cmd := &cobra.Command{
		Use:   "guard [room] [off|default|HOPS]",
		Short: "Say when agents are refused that post to each other without progress",
		Long: `Say after how many turns the hub refuses the posts of agents of the room that write to
each other while nothing shows progress: 4 to 1000. You are asked then whether they may go
on; see "hubcli inbox". At half of that they are told, and from two thirds on posts are
slowed that come fast, or that repeat nearly the same words.

By default none is refused: they are told after 6 turns and slowed after 8. Agents that go
on repeating themselves, such as two that thank each other, are silent for an hour after
11; what says something new passes. With off the hub does not watch the room.

A task, a decision, an artifact, a memory, a claim or a lock of one of them begins a new
count, and so does what you or another agent says to them. Three agents have three times
as many turns, and larger rings of direct messages as many times as they have agents,
unless they repeat themselves. "hubcli status" shows the loops. Without off, default or a
number the command shows the setting. It needs the secret of the hub, which it reads from
the store.`,
		Example: `  hubcli room guard web-shop/checkout
  hubcli room guard 30
  hubcli room guard web-shop/checkout off
  hubcli room guard web-shop/checkout default`,
		Args: opt.Between(0, "room", "HOPS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			if last < 0 || last == 0 && !isGuard(args[0]) {
				if err := o.TakeRoom(cmd, args); err != nil {
					return err
				}
				return showRoomGuard(cmd.Context(), env, &o.BaseURL, &o.RoomRef, o.json)
			}
			if err := o.TakeRoom(cmd, args[:last]); err != nil {
				return err
			}
			hops, err := guardHops(args[last])
			if err != nil {
				return err
			}
			return runRoomGuard(cmd.Context(), env, &o.BaseURL, &o.RoomRef, hops, o.json)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

// isGuard reports whether a lone argument is a setting. Otherwise it names a room.
func isGuard(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil || text == "off" || text == "default"
}

// showRoomGuard prints the setting of a room.
func showRoomGuard(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := ref.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	return printGuard(env, &room, asJSON)
}

// guardHops reads off, default or a number; nil is the default.
func guardHops(text string) (*int, error) {
	switch text {
	case "default":
		return nil, nil
	case "off":
		return new(int), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < hub.MinGuardHops || n > hub.MaxGuardHops {
		return nil, term.Usage(fmt.Sprintf("write off, default, or a number from %d to %d", hub.MinGuardHops, hub.MaxGuardHops), "agents cannot be refused after %q turns", text)
	}
	return &n, nil
}

func runRoomGuard(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, hops *int, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := ref.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	out, err := c.AsOperator().SetGuard(ctx, room.RoomID, hub.GuardInput{Hops: hops})
	if err != nil {
		return err
	}
	return printGuard(env, &out.Row, asJSON)
}

func printGuard(env *term.Env, r *hub.Room, asJSON bool) error {
	if asJSON {
		return term.PrintJSON(env.Stdout, r)
	}
	_, err := fmt.Fprintf(env.Stdout, "room %s %s: guard %s\n", r.RoomID, peertext.TerminalLine(r.Slug), guardText(r))
	return err
}

// guardText says what the hub does about agents of a room that get nowhere.
func guardText(r *hub.Room) string {
	switch {
	case r.GuardHops == nil:
		return "tells and slows agents without progress, refuses none"
	case *r.GuardHops == 0:
		return "off"
	}
	return fmt.Sprintf("refuses after %d turns without progress", *r.GuardHops)
}
