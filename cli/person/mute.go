package person

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// muteOptions say where an agent is muted: everywhere, or in one room. With everybody all
// agents in the room are.
type muteOptions struct {
	opt.BaseURL
	list.RoomRef
	everybody bool
	json      bool
}

func (o *muteOptions) add(env *term.Env, f *pflag.FlagSet) {
	o.AddRoom(f, "in this `room` alone, by its id, slug or project/slug")
	f.BoolVar(&o.everybody, "everybody", false, "all agents in the room of --room")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the mute as JSON")
}

// target returns what the arguments name, and the words behind it.
func (o *muteOptions) target(cmd *cobra.Command, args []string) (t hub.MuteTarget, words []string, err error) {
	switch {
	case o.everybody && o.Room == "":
		return t, nil, term.Usage("name the room with --room", "--everybody needs a room")
	case o.everybody:
		return t, args, o.CheckRoom(cmd)
	case len(args) == 0:
		return t, nil, term.Usage("name an agent, or give --room and --everybody", "%s lacks an agent", cmd.CommandPath())
	}
	t.AgentID = hub.AgentID(args[0])
	if err := hub.CheckSender("the agent", t.AgentID); err != nil {
		return t, nil, opt.AsUsage(err)
	}
	return t, args[1:], o.CheckRoom(cmd)
}

// find fills in the id of the room.
func (o *muteOptions) find(ctx context.Context, c *client.Client, t *hub.MuteTarget) (err error) {
	if o.Room != "" {
		t.RoomID, err = o.RoomID(ctx, c)
	}
	return err
}

// NewMute makes the command mute.
func NewMute(env *term.Env) *cobra.Command {
	var o muteOptions
	var to opt.Addressee
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "mute [agent] [reason]...",
		Short: "Keep what an agent posts from waking others",
		Long: `Keep what an agent posts from waking others, until "hubcli app unmute" or for a time.
With --everybody it is what any agent posts in the room of --room.

What a muted agent posts is kept, listed and searched like any other message. It wakes
nobody: no hook shows it, no watch ends with it, and a poll that waits goes on waiting.
An agent that polls or reads sees it, and you see it in the log. That does not change when the mute
ends. The agent reads your reason with the answers to its posts. Its tasks, claims and
questions to you are as before; to stop an agent altogether, use "hubcli app pause".`,
		Example: `  hubcli app mute dev-a
  hubcli app mute dev-a --for 30m "one message a day is enough"
  hubcli app mute dev-a --room web-shop/checkout
  hubcli app mute --room web-shop/checkout --everybody --for 1h "only results, please"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, words, err := o.target(cmd, args)
			if err != nil {
				return err
			}
			in := hub.MuteInput{AgentID: t.AgentID, Reason: strings.Join(words, " "), ForSec: int(lasts / time.Second), UnlessNear: t.AgentID != "" && !to.IsNew}
			return runMute(cmd.Context(), env, &o, t, in)
		},
	}
	cmd.Flags().Var(term.DurationValue{To: &lasts, Min: time.Second, Max: hub.MaxMuteSec * time.Second, Style: term.InWholeSeconds}, "for", "`time` after which it ends by itself, such as 30m (default: until you end it)")
	to.Add(cmd.Flags())
	o.add(env, cmd.Flags())
	return cmd
}

func runMute(ctx context.Context, env *term.Env, o *muteOptions, t hub.MuteTarget, in hub.MuteInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := o.find(ctx, c, &t); err != nil {
		return err
	}
	in.RoomID = t.RoomID
	out, err := c.Mute(ctx, in)
	if err != nil {
		return err
	}
	if t.AgentID != "" {
		noteUnknown(ctx, env, c, t.AgentID)
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	name, err := mutedName(ctx, env, c, out.Row.Target())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "muted %s, %s\n", name, peertext.TerminalLine(out.Row.Period()))
	return err
}

// mutedName says who is muted and where, as a person names them.
func mutedName(ctx context.Context, env *term.Env, c *client.Client, t hub.MuteTarget) (string, error) {
	if t.RoomID == "" {
		return peertext.TerminalLine(t.String()), nil
	}
	room, err := list.RoomName(ctx, env, c, t.RoomID)
	if t.AgentID == "" {
		return "everybody in room " + room, err
	}
	return "agent " + peertext.TerminalLine(string(t.AgentID)) + " in room " + room, err
}

// NewUnmute makes the command unmute.
func NewUnmute(env *term.Env) *cobra.Command {
	var o muteOptions
	cmd := &cobra.Command{
		Use:   "unmute [agent]",
		Short: "Let what an agent posts wake others again",
		Long: `End the mute of exactly this agent, or with --room that in this room, or with --room
and --everybody that of the room. It wakes nobody, and what was posted while the mute was
in force wakes nobody either.`,
		Example: `  hubcli app unmute dev-a
  hubcli app unmute dev-a --room web-shop/checkout
  hubcli app unmute --room web-shop/checkout --everybody`,
		Args: opt.Between(0, "agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, words, err := o.target(cmd, args)
			if err != nil {
				return err
			}
			if len(words) > 0 {
				return term.Usage("leave the agent out, or --everybody", "an agent and --everybody exclude each other")
			}
			return runUnmute(cmd.Context(), env, &o, t)
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func runUnmute(ctx context.Context, env *term.Env, o *muteOptions, t hub.MuteTarget) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := o.find(ctx, c, &t); err != nil {
		return err
	}
	out, err := c.EndMute(ctx, hub.MuteEndInput(t))
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	ended := out.Row.Target()
	name, err := mutedName(ctx, env, c, ended)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "unmuted %s, which was muted since %s\n", name, out.Row.Since)
	rest, err := c.Mutes(ctx)
	if err != nil {
		return err
	}
	for i := range rest {
		if rest[i].AgentID != ended.AgentID || ended.AgentID == "" {
			continue
		}
		if name, err = mutedName(ctx, env, c, rest[i].Target()); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(env.Stdout, "still muted: %s\n", name); err != nil {
			return err
		}
	}
	return nil
}

// NewMutes makes the command mutes.
func NewMutes(env *term.Env) *cobra.Command {
	var o list.Listing
	cmd := &cobra.Command{
		Use:   "mutes",
		Short: "List who is muted",
		Long: `List what the operator has muted: which agent, or everybody, where, for how long already
and still, and why.`,
		Example: "  hubcli app mutes\n  hubcli app mutes --watch\n  hubcli app mutes --json",
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, findMutes)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func findMutes(ctx context.Context, s *list.Spectator) (list.Found, error) {
	mutes, err := s.Mutes(ctx)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("nobody is muted", "MUTED", "ROOM", ">FOR", ">LEFT", "REASON(20)")
	now := s.Now()
	for i := range mutes {
		m := &mutes[i]
		left := ""
		if m.Until != nil {
			left = term.Span(*m.Until - now)
		}
		t.Add(cmp.Or(string(m.AgentID), "everybody"), rooms.Of(m.RoomID), term.Age(now, m.Since), left, m.Reason)
	}
	return list.Found{Rows: mutes, Text: t}, nil
}
