package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// muteOptions say where an agent is muted: everywhere, or in one room.
type muteOptions struct {
	baseURL
	roomRef
	json bool
}

func (o *muteOptions) add(env *Env, f *pflag.FlagSet) {
	o.addRoom(f, "in this `room` alone, by its id, slug or project/slug")
	o.baseURL.add(env, f)
	f.BoolVar(&o.json, "json", false, "print the mute as JSON")
}

// target returns whom the arguments name.
func (o *muteOptions) target(cmd *cobra.Command, agent string) (hub.MuteTarget, error) {
	if err := hub.CheckSender("the agent", hub.AgentID(agent)); err != nil {
		return hub.MuteTarget{}, asUsage(err)
	}
	return hub.MuteTarget{AgentID: hub.AgentID(agent)}, o.checkRoom(cmd)
}

// find fills in the id of the room.
func (o *muteOptions) find(ctx context.Context, c *client.Client, t *hub.MuteTarget) (err error) {
	if o.room != "" {
		t.RoomID, err = o.roomID(ctx, c)
	}
	return err
}

func newAppMute(env *Env) *cobra.Command {
	var o muteOptions
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "mute <agent> [reason]...",
		Short: "Keep what an agent posts from waking others",
		Long: `Keep what an agent posts from waking others, until "hubcli app unmute" or for a time.

What a muted agent posts is kept, listed and searched like any other message. It wakes
nobody: no hook shows it, no watch ends with it, and a poll that waits goes on waiting.
An agent that polls or reads sees it, and you see it in the log. That does not change when the mute
ends. The agent reads your reason with the answers to its posts. Its tasks, claims and
questions to you are as before; to stop an agent altogether, use "hubcli app pause".`,
		Example: `  hubcli app mute dev-a
  hubcli app mute dev-a --for 30m "one message a day is enough"
  hubcli app mute dev-a --room web-shop/checkout`,
		Args: agentAndWords,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := o.target(cmd, args[0])
			if err != nil {
				return err
			}
			in := hub.MuteInput{AgentID: t.AgentID, Reason: strings.Join(args[1:], " "), ForSec: int(lasts / time.Second)}
			return runMute(cmd.Context(), env, &o, t, in)
		},
	}
	cmd.Flags().Var(durationValue{&lasts, time.Second, hub.MaxMuteSec * time.Second, inWholeSeconds}, "for", "`time` after which it ends by itself, such as 30m (default: until you end it)")
	o.add(env, cmd.Flags())
	return cmd
}

// agentAndWords takes an agent, and words with or without quotes.
func agentAndWords(cmd *cobra.Command, args []string) error {
	return between(1, append([]string{"agent"}, args...)...)(cmd, args)
}

func runMute(ctx context.Context, env *Env, o *muteOptions, t hub.MuteTarget, in hub.MuteInput) error {
	c, err := o.client()
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
	noteUnknown(ctx, env, c, t.AgentID)
	if o.json {
		return printJSON(env.Stdout, out.Row)
	}
	name, err := mutedName(ctx, env, c, out.Row.Target())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "muted %s, %s\n", name, peertext.TerminalLine(muteText(&out.Row)))
	return err
}

// muteText says since when an agent is muted, until when and why.
func muteText(m *hub.Mute) string {
	text := "since " + m.Since.String()
	if m.Until != nil {
		text += ", until " + m.Until.String()
	}
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}

// mutedName says who is muted and where, as a person names them.
func mutedName(ctx context.Context, env *Env, c *client.Client, t hub.MuteTarget) (string, error) {
	if t.RoomID == "" {
		return peertext.TerminalLine(t.String()), nil
	}
	room, err := roomName(ctx, env, c, t.RoomID)
	return "agent " + peertext.TerminalLine(string(t.AgentID)) + " in room " + room, err
}

func newAppUnmute(env *Env) *cobra.Command {
	var o muteOptions
	cmd := &cobra.Command{
		Use:   "unmute <agent>",
		Short: "Let what an agent posts wake others again",
		Long: `End the mute of exactly this agent, or with --room that in this room. It wakes
nobody, and what the agent posted while it was muted wakes nobody either.`,
		Example: `  hubcli app unmute dev-a
  hubcli app unmute dev-a --room web-shop/checkout`,
		Args: arity("agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := o.target(cmd, args[0])
			if err != nil {
				return err
			}
			return runUnmute(cmd.Context(), env, &o, t)
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func runUnmute(ctx context.Context, env *Env, o *muteOptions, t hub.MuteTarget) error {
	c, err := o.client()
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
		return printJSON(env.Stdout, out.Row)
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
		if rest[i].AgentID != ended.AgentID {
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

func newAppMutes(env *Env) *cobra.Command {
	var o listing
	cmd := &cobra.Command{
		Use:     "mutes",
		Short:   "List who is muted",
		Long:    "List whom the operator has muted: which agent, where, for how long already and still, and why.",
		Example: "  hubcli app mutes\n  hubcli app mutes --watch\n  hubcli app mutes --json",
		Args:    arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.sees = sightOfPublic
			return o.run(cmd, env, findMutes)
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func findMutes(ctx context.Context, s *spectator) (found, error) {
	mutes, err := s.Mutes(ctx)
	if err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	t := newTable("nobody is muted", "MUTED", "ROOM", ">FOR", ">LEFT", "REASON(20)")
	now := s.now()
	for i := range mutes {
		m := &mutes[i]
		left := ""
		if m.Until != nil {
			left = span(*m.Until - now)
		}
		t.add(string(m.AgentID), rooms.of(m.RoomID), age(now, m.Since), left, m.Reason)
	}
	return found{rows: mutes, text: t}, nil
}
