package person

import (
	"math"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type logOptions struct {
	opt.BaseURL
	list.RoomRef
	color              term.ColorMode
	channel, thread    string
	party              string
	direct, all        bool
	follow, full, json bool
	tail               int
	since, at          term.MomentValue
	span               time.Duration
}

// NewLog makes the command log.
func NewLog(env *term.Env) *cobra.Command {
	o := logOptions{tail: list.LogTail, span: 10 * time.Minute}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show what was said, with times, and follow it",
		Long: `Show messages as a spectator: nobody is registered or displaced, and no message
counts as seen. Without flags these are the latest public messages of all channels.

With --direct the direct messages of all agents are shown too. The command then reads
the operator's secret in the store of the hub, so only the user who started the hub
can use it, and the hub notes the call in its log.

Times are those of this machine; messages of another day than today show the day too.
Each message is one line: a terminal cuts long lines, a file gets them whole, with \n
for line ends. --full shows the bodies as they are.`,
		Example: `  hubcli app log
  hubcli app log --room . --since 1h
  hubcli app log --at 14:05 --for 10m --direct
  hubcli app log --agent dev-a --tail 20 -f`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := o.check(cmd, env)
			if err != nil {
				return err
			}
			return l.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.StringVar(&o.channel, "channel", "", "only this `channel`; direct messages are in none: --direct shows them")
	f.StringVar(&o.thread, "thread-id", "", "only this `thread`")
	f.StringVar(&o.party, "agent", "", "only messages from this `agent` and direct ones to it; HUB_AGENT selects nothing here")
	f.BoolVar(&o.direct, "direct", false, "the direct messages of all agents too; for the operator")
	f.Var(&o.since, "since", "only messages since this `time`, such as 1h (so long ago), 14:05 or RFC 3339")
	f.Var(&o.at, "at", "only messages from this `time` on, for as long as --for says")
	f.Var(term.WaitValue(&o.span, term.InUnits), "for", "how much `time` from --at on is shown, such as 90, 90s or 5m")
	f.Var(term.IntValue{To: &o.tail, Min: 0, Max: math.MaxInt32}, "tail", "how many of the last `messages` to show; with --since or --at all, if not given")
	f.BoolVar(&o.all, "all", false, "all messages from the first on")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with new messages until Ctrl-C, also across restarts of the hub")
	f.BoolVar(&o.full, "full", false, "show bodies whole, with their lines, threads and attachments")
	f.BoolVar(&o.json, "json", false, "print one JSON document: an array of the messages; with -f each message is one line")
	o.color.Add(f)
	o.BaseURL.Add(env, f)
	return cmd
}

// check makes what is to be read of the flags.
func (o *logOptions) check(cmd *cobra.Command, env *term.Env) (*spectatorLog, error) {
	given := cmd.Flags().Changed
	if err := o.conflict(given); err != nil {
		return nil, err
	}
	if err := o.CheckRoom(cmd); err != nil {
		return nil, err
	}
	q := hub.LogQuery{Channel: hub.ChannelName(o.channel), ThreadID: hub.ThreadID(o.thread), Agent: hub.AgentID(o.party), Direct: o.direct}
	if err := checkNamed(cmd, "agent", q.Agent); err != nil {
		return nil, err
	}
	for _, name := range []string{"channel", "thread-id"} {
		if given(name) && cmd.Flags().Lookup(name).Value.String() == "" {
			return nil, term.Usage("leave it out, or name one", "--%s cannot be empty", name)
		}
	}
	switch now := env.Now(); {
	case given("since"):
		q.Since = hub.TimeOf(o.since.At(now))
	case given("at"):
		q.Since = hub.TimeOf(o.at.At(now))
		q.Until = q.Since + hub.Time(o.span.Milliseconds())
	}
	l := &spectatorLog{options: o, env: env, query: q, tail: o.tail}
	if o.all || !given("tail") && q.Since != 0 {
		l.tail = everything
	}
	return l, nil
}

// conflict refuses flags that do not go together.
func (o *logOptions) conflict(given func(string) bool) error {
	for _, pair := range [][2]string{
		{"room", "channel"}, {"room", "thread-id"}, {"channel", "thread-id"}, {"since", "at"}, {"all", "tail"}, {"at", "follow"},
	} {
		if given(pair[0]) && given(pair[1]) {
			return term.Usage("leave one of them out", "--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if given("for") && !given("at") {
		return term.Usage("say with --at when it begins", "--for needs --at")
	}
	return nil
}
