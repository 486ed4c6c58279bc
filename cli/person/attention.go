package person

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewAttention makes the command attention.
func NewAttention(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		to, from string
		byRoom   bool
	}
	cmd := &cobra.Command{
		Use:   "attention",
		Short: "Show what agents were given to read, and by which path",
		Long: `Show what took the attention of agents since the hub has started: for each agent, the
senders of the messages that it was given, the path (poll, inbox, stream, watch or hook),
the number of messages and the characters of their bodies. A message that is given twice
counts twice. Of a watch and of a hook the beginnings count that they show, and of a
digest what it shows. With --by-room the rows are about rooms instead of senders; - stands
for direct messages and for channels of no room. If there are budgets, READ IN 1H says how
much of its budget the agent was given in the last hour. The hub keeps the 1000 rows that
have changed last, and stores none. The command needs the secret of the hub, which it
reads from the store, and refuses where HUB_AGENT is set.`,
		Example: `  hubcli app attention
  hubcli app attention --to lead
  hubcli app attention --from dev-a --watch
  hubcli app attention --by-room`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.byRoom && o.from != "" {
				return term.Usage("leave one of the two out", "--by-room and --from cannot be used together")
			}
			o.Sees = list.SightOfSecrets
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				if o.byRoom {
					got, err := findAttentionByRoom(ctx, s, hub.AgentID(o.to))
					return s.OrUnknown(ctx, got, err, hub.AgentID(o.to))
				}
				got, err := findAttention(ctx, s, hub.AgentID(o.to), hub.AgentID(o.from))
				got, err = s.OrUnknown(ctx, got, err, hub.AgentID(o.to))
				if got.Unknown != "" {
					return got, err
				}
				return s.OrUnknown(ctx, got, err, hub.AgentID(o.from))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "only what this `agent` was given")
	f.StringVar(&o.from, "from", "", "only what this `agent` has written")
	f.BoolVar(&o.byRoom, "by-room", false, "by room instead of by sender")
	o.Listing.Add(env, f)
	return cmd
}

// findAttention selects the rows of an agent and of a sender; empty selects all.
func findAttention(ctx context.Context, s *list.Spectator, agent, from hub.AgentID) (list.Found, error) {
	ledger, err := s.AttentionLedger(ctx)
	if err != nil {
		return list.Found{}, err
	}
	rows := slices.DeleteFunc(ledger.Rows, func(g hub.Given) bool {
		return agent != "" && g.AgentID != agent || from != "" && g.FromAgent != from
	})
	none := "no agent was given a message since the hub has started"
	if agent != "" || from != "" {
		none = "no such message was given to an agent since the hub has started"
	}
	t := term.NewTable(none, "AGENT(12)", "FROM(12)", "PATH", ">MESSAGES", ">CHARACTERS", ">LAST")
	budgets := map[hub.AgentID]string{}
	for _, b := range ledger.Spent {
		budgets[b.AgentID] = fmt.Sprintf("%d of %d", b.Chars, b.Budget)
	}
	if len(budgets) > 0 {
		t = term.NewTable(none, "AGENT(12)", "FROM(12)", "PATH", ">MESSAGES", ">CHARACTERS", ">LAST", ">READ IN 1H")
	}
	now := s.Now()
	for i := range rows {
		g := &rows[i]
		t.Add(g.AgentID, g.FromAgent, g.Path, g.Messages, g.Chars, term.Age(now, g.LastAt), budgets[g.AgentID])
	}
	return list.Found{Rows: rows, Text: t}, nil
}

// findAttentionByRoom selects the rows of an agent by room; empty selects all.
func findAttentionByRoom(ctx context.Context, s *list.Spectator, agent hub.AgentID) (list.Found, error) {
	ledger, err := s.AttentionLedger(ctx)
	if err != nil {
		return list.Found{}, err
	}
	names, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	rows := slices.DeleteFunc(ledger.Rooms, func(g hub.GivenIn) bool { return agent != "" && g.AgentID != agent })
	t := term.NewTable("no agent was given a message since the hub has started", "AGENT(12)", "ROOM(12)", ">MESSAGES", ">CHARACTERS", ">LAST")
	now := s.Now()
	for i := range rows {
		g := &rows[i]
		room := "-"
		if g.RoomID != nil {
			room = cmp.Or(names[*g.RoomID], string(*g.RoomID))
		}
		t.Add(g.AgentID, room, g.Messages, g.Chars, term.Age(now, g.LastAt))
	}
	return list.Found{Rows: rows, Text: t}, nil
}
