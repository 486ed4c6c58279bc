package person

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// pauseOptions is what app pause and app resume are about: an agent, a room or everything.
type pauseOptions struct {
	opt.BaseURL
	list.RoomRef
	agent string
	all   bool
	json  bool
}

func (o *pauseOptions) add(env *term.Env, f *pflag.FlagSet) {
	f.StringVar(&o.agent, "agent", "", "this `agent`")
	o.AddRoom(f, "the agents that joined this `room` last, and what anybody does there; by its id, slug or project/slug")
	f.BoolVar(&o.all, "all", false, "everything")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the pause as JSON")
}

// target returns what is named, with a room that only the hub can find.
func (o *pauseOptions) target(cmd *cobra.Command) (hub.PauseTarget, error) {
	if err := o.CheckRoom(cmd); err != nil {
		return hub.PauseTarget{}, err
	}
	named := 0
	for _, name := range []string{"agent", "room", "all"} {
		if cmd.Flags().Changed(name) {
			named++
		}
	}
	switch {
	case named != 1:
		return hub.PauseTarget{}, term.Usage("give one of --agent, --room and --all", "a pause is of one agent, one room or everything")
	case cmd.Flags().Changed("agent"):
		return hub.PauseTarget{AgentID: hub.AgentID(o.agent)}, opt.AsUsage(hub.CheckSender("--agent", hub.AgentID(o.agent)))
	case o.all:
		return hub.PauseTarget{All: true}, nil
	}
	return hub.PauseTarget{RoomID: list.Somewhere}, nil
}

// find fills in the id of the room.
func (o *pauseOptions) find(ctx context.Context, c *client.Client, t *hub.PauseTarget) (err error) {
	if t.RoomID != "" {
		t.RoomID, err = o.RoomID(ctx, c)
	}
	return err
}

// NewPause makes the command pause.
func NewPause(env *term.Env) *cobra.Command {
	var o pauseOptions
	var to opt.Addressee
	cmd := &cobra.Command{
		Use:   "pause [words]",
		Short: "Stop an agent, a room or everything for a while",
		Long: `Stop an agent, the agents of a room, or all agents, until "hubcli app resume". They
are told the words.

A paused agent posts nothing, takes no task, claim or lock, and records nothing: such
calls are refused with your words. It may read, and renew, release or complete what it
holds. Nothing wakes it. Its hooks end its turn where its program allows that (Claude
Code, Gemini CLI), and tell it your words elsewhere. The hub cannot stop a program:
the command prints what still runs. The operator is never paused.`,
		Example: `  hubcli app pause --agent dev-a "wait until the release is cut"
  hubcli app pause --room web-shop/checkout "the tests are broken; dev-b mends them"
  hubcli app pause --all "lunch"`,
		Args: opt.Arity("words"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := o.target(cmd)
			if err != nil {
				return err
			}
			return runPause(cmd.Context(), env, &o, t, hub.PauseInput{Words: args[0], UnlessNear: t.AgentID != "" && !to.IsNew})
		},
	}
	to.Add(cmd.Flags())
	o.add(env, cmd.Flags())
	return cmd
}

func runPause(ctx context.Context, env *term.Env, o *pauseOptions, t hub.PauseTarget, in hub.PauseInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := o.find(ctx, c, &t); err != nil {
		return err
	}
	in.AgentID, in.RoomID, in.All = t.AgentID, t.RoomID, t.All
	out, err := c.Pause(ctx, in)
	if err != nil {
		return err
	}
	if t.AgentID != "" {
		noteUnknown(ctx, env, c, t.AgentID)
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	name, err := pausedName(ctx, env, c, t)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "paused %s since %s\n", name, out.Row.Since)
	return printStillRuns(ctx, env.Stdout, c, t)
}

// printStillRuns says of each live agent that a pause concerns what its program does. The hub
// stops no program: an agent in a turn goes on until it calls the hub.
func printStillRuns(ctx context.Context, w io.Writer, c *client.Client, t hub.PauseTarget) error {
	shown := 0
	q := hub.AgentsQuery{RoomID: t.RoomID, Prefix: string(t.AgentID), Details: true}
	for {
		rows, next, err := c.Agents(ctx, q)
		if err != nil {
			return err
		}
		for i := range rows {
			a := &rows[i]
			if t.AgentID != "" && a.AgentID != t.AgentID || a.AgentID.Watcher() {
				continue
			}
			if d := a.Details; t.RoomID != "" && d != nil && len(d.Rooms) > 0 && d.Rooms[0] != t.RoomID {
				continue // it has joined another room since
			}
			does := "its program goes on until its next call of the hub"
			if a.Activity != hub.ActivityWorking && a.Activity != hub.ActivityAtPrompt {
				does = "nothing wakes it"
			}
			shown++
			if _, err := fmt.Fprintf(w, "still there: %s (%s): %s; it keeps its claims and locks\n", peertext.TerminalLine(string(a.AgentID)), a.Activity, does); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	if shown == 0 {
		_, err := fmt.Fprintln(w, "no agent that it concerns is live; one that comes is paused")
		return err
	}
	return nil
}

// NewResume makes the command resume.
func NewResume(env *term.Env) *cobra.Command {
	var o pauseOptions
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Let an agent, a room or everything go on",
		Long: `End the pause of exactly this agent, of this room, or of everything. The agents
that it stopped get a message, which wakes them, and then read what came meanwhile. An
agent that another pause stops too stays paused; "hubcli app pauses" lists them.`,
		Example: `  hubcli app resume --agent dev-a
  hubcli app resume --room web-shop/checkout
  hubcli app resume --all`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := o.target(cmd)
			if err != nil {
				return err
			}
			return runResume(cmd.Context(), env, &o, t)
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func runResume(ctx context.Context, env *term.Env, o *pauseOptions, t hub.PauseTarget) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := o.find(ctx, c, &t); err != nil {
		return err
	}
	out, err := c.EndPause(ctx, hub.PauseEndInput(t))
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	name, err := pausedName(ctx, env, c, t)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "resumed %s, which was paused since %s\n", name, out.Row.Since)
	rest, err := c.Pauses(ctx)
	if err != nil {
		return err
	}
	for i := range rest {
		if name, err = pausedName(ctx, env, c, rest[i].Target()); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(env.Stdout, "still paused: %s\n", name); err != nil {
			return err
		}
	}
	return nil
}

// NewPauses makes the command pauses.
func NewPauses(env *term.Env) *cobra.Command {
	var o list.Listing
	cmd := &cobra.Command{
		Use:     "pauses",
		Short:   "List what is paused",
		Long:    "List what the operator has paused: what, for how long, and with which words.",
		Example: "  hubcli app pauses\n  hubcli app pauses --watch\n  hubcli app pauses --json",
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, findPauses)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func findPauses(ctx context.Context, s *list.Spectator) (list.Found, error) {
	pauses, err := s.Pauses(ctx)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("nothing is paused", "PAUSED(12)", ">FOR", "WORDS(20)")
	now := s.Now()
	for i := range pauses {
		p := &pauses[i]
		t.Add(rooms.Paused(p.Target()), term.Age(now, p.Since), p.Words)
	}
	return list.Found{Rows: pauses, Text: t}, nil
}

// pausedName is paused for one target. It asks the hub for the name only if there is a room.
func pausedName(ctx context.Context, env *term.Env, c *client.Client, t hub.PauseTarget) (string, error) {
	if t.RoomID == "" || t.All {
		return t.String(), nil
	}
	room, err := list.RoomName(ctx, env, c, t.RoomID)
	return "room " + room, err
}
