package agent

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

type watchOptions struct {
	opt.Agent
	opt.BaseURL
	room    list.RoomRef
	until   []string
	timeout time.Duration
	label   string
	verbose bool
	stream  bool
	json    bool // of a stream; a watch prints JSON anyway
	byHook  bool // of a stream: hooks show the operator's words
	timed   bool // --timeout was given
}

// NewWatch makes the command watch.
func NewWatch(env *term.Env) *cobra.Command {
	o := watchOptions{timeout: 20 * time.Minute}
	// A mistake in the command line is reported as an outcome too, because a
	// harness reads only that.
	mistaken := func(err error) error {
		if err == nil {
			return nil
		}
		w := newWatcher(env, &o)
		out, err := w.failed(err)
		return w.end(context.Background(), out, err)
	}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Block until room conditions are met",
		Long: `Wait until all conditions hold at once, say so in one line of JSON and end. Run
it as a background process: in a harness that calls its agent again when a
background process ends, its exit is what wakes the agent.

Conditions (--until, repeatable; without one: for-me):
  for-me                       an unread message is for the agent: it is direct,
                               names the agent as @agent, or answers it
  task-ready[:<room_id>]       the room has an open task that the agent could
                               take: nobody else has it, and nothing blocks it
  answered:<message id>        another agent has replied to the message, or its
                               task has ended
  tasks-complete:<id[,id...]>  the tasks have ended: done, failed or cancelled
  run-complete:<run_id>        all tasks of the run have ended
  message-from:<agent>         a message of the agent is unread, in the room or
                               direct; what came before the watch began counts
  seat-idle:<agent>            the agent has been idle or waiting for 5 seconds,
                               with no task at work and no request unread

An agent in no room waits for direct messages, and for mentions and answers anywhere;
only task-ready needs a room.

The last line of stdout always tells the outcome, also when a signal or a dead
parent ends the watch:
  {"outcome":"matched|timeout|interrupted|replaced|error","conditions":[...],...}
Exit codes: 0 matched, 4 timeout, 130 interrupted, 3 no hub, 2 usage, 1 the hub
refused, or a later watch of the agent with the same label took over.

With --stream it does not end with the first message: it prints one line for each
event, until it is stopped. It is for harnesses that hand each line of a program to
their agent. A line quotes the messages that came at about the same time, and says
how to read them. No message is shown twice.

The watch survives a restart of the hub. The agent's own session stays live: the
hub shows the watch as <agent>.watch. A harness that limits background processes
must allow them longer than --timeout.`,
		Example: `  hubcli watch --agent lead --until tasks-complete:41,42 --timeout 1h
  hubcli watch --agent dev-a
  hubcli watch --agent dev-a --stream
  hubcli watch --agent dev-a --until message-from:lead --label "waits for review"
  hubcli watch --agent lead --room shop/checkout --until run-complete:run_9 --timeout 0`,
		Args: func(cmd *cobra.Command, args []string) error { return mistaken(opt.Arity()(cmd, args)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.timed = cmd.Flags().Changed("timeout")
			return runWatch(cmd.Context(), env, &o)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return mistaken(opt.FlagFailure(cmd, err)) })
	f := cmd.Flags()
	o.Agent.AddAs(env, f, "agent", "agent `id` that waits (required, unless "+hook.EnvAgent+" names it); its own session stays live")
	o.BaseURL.Add(env, f)
	f.StringVar(&o.room.Room, "room", "", "`room` to watch, by its id, slug or project/slug (default the one that is bound to --path, or else none)")
	f.StringVar(&o.room.Folder, "path", "", "`folder` whose room to watch (default the current folder)")
	f.StringArrayVar(&o.until, "until", nil, "`condition` to wait for (default for-me); all of them must hold at once")
	f.Var(term.WaitValue(&o.timeout, term.InUnits), "timeout", "`time` to wait, such as 90, 90s, 20m or 1h30m; 0 looks once")
	f.StringVar(&o.label, "label", "", "short `label` shown in the room's status; one watch per agent and label")
	f.BoolVar(&o.stream, "stream", false, "print one line for each event until stopped, instead of ending with the first")
	f.BoolVar(&o.byHook, "operator-by-hook", false, "with --stream: say that the human operator has written, and leave the words to the hooks of the harness")
	f.BoolVar(&o.json, "json", false, "with --stream: print each event as JSON")
	f.BoolVar(&o.verbose, "verbose", false, "print progress lines on stderr")
	return cmd
}

// query makes the checks of the flags that need no hub.
func (o *watchOptions) query() (hub.WatchQuery, error) {
	id, err := o.Agent.Check()
	if err != nil {
		return hub.WatchQuery{}, err
	}
	if err := hub.CheckWatching(o.Agent.Field(), id); err != nil {
		return hub.WatchQuery{}, opt.AsUsage(err)
	}
	q := hub.WatchQuery{Agent: id, Label: o.label}
	if len(o.until) > hub.MaxWatchConditions {
		return q, term.Usage("a condition may name several tasks", "--until is given more than %d times", hub.MaxWatchConditions)
	}
	if len(o.until) == 0 {
		o.until = []string{string(hub.UntilForMe)}
	}
	for _, text := range o.until {
		c, err := hub.ParseCondition("--until", text)
		if err != nil {
			return q, opt.AsUsage(err)
		}
		q.Until = append(q.Until, c)
	}
	if named := o.room.Room; named != "" {
		if err := hub.CheckName("--room", named, hub.MaxNameChars); err != nil {
			return q, opt.AsUsage(err)
		}
		if hub.IsRoomID(named) {
			q.Room = hub.RoomID(named)
		}
	}
	if o.label != "" {
		if err := hub.CheckName("--label", o.label, hub.MaxWatchLabelChars); err != nil {
			return q, opt.AsUsage(err)
		}
	}
	switch {
	case o.stream:
		err = o.checkStream(&q)
	case o.byHook:
		err = term.Usage("add --stream", "--operator-by-hook is for --stream")
	}
	return q, err
}

// runWatch waits and prints the outcome.
func runWatch(ctx context.Context, env *term.Env, o *watchOptions) error {
	ctx, release := daemon.EndWithReader(ctx)
	defer release()
	w := newWatcher(env, o)
	if o.stream {
		s := newStream(w)
		out, err := s.run(ctx)
		return s.end(ctx, out, err)
	}
	out, err := w.run(ctx)
	return w.end(ctx, out, err)
}
