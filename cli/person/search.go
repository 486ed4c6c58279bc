package person

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewSearch makes the command search.
func NewSearch(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		channel, from, kind string
		types               []string
		since               term.MomentValue
		direct              bool
		limit               int
	}
	o.limit = 20
	cmd := &cobra.Command{
		Use:   "search <text>",
		Short: "Find messages, decisions, artifacts and memories by their words",
		Long: `Find what holds the words of a text, the best matches first: public messages,
decisions, artifacts and memories. docs/search.md says how words are matched.

With --direct the direct messages of all agents are searched too. The command then
reads the operator's secret in the store of the hub, so only the user who started the
hub can use it. With HUB_AGENT those of this agent are searched.`,
		Example: `  hubcli app search "tax rate"
  hubcli app search parser --room web-shop/checkout --type decision
  hubcli app search --from dev-a --since 1h --json deadlock`,
		Args: opt.Arity("text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := hub.SearchQuery{Text: args[0], Channel: hub.ChannelName(o.channel), FromAgent: hub.AgentID(o.from), Kind: o.kind, Limit: o.limit}
			for _, name := range o.types {
				q.Types = append(q.Types, hub.FoundType(name))
			}
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			if err := checkNamed(cmd, "from", q.FromAgent); err != nil {
				return err
			}
			o.Sees = list.SightOfPublic
			if o.direct {
				o.Sees = list.SightOfSecrets
			}
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if o.since != "" {
					q.Since = hub.TimeOf(o.since.At(env.Now()))
				}
				if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				got, err = findWords(ctx, s, q)
				return s.OrUnknown(ctx, got, list.UnknownChannel(ctx, s.Client, q.Channel, err), q.FromAgent)
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.StringVar(&o.channel, "channel", "", "only messages of this `channel`")
	f.StringVar(&o.from, "from", "", "only what this `agent` wrote")
	f.StringVar(&o.kind, "kind", "", "only messages or artifacts of this `kind`")
	f.StringSliceVar(&o.types, "type", nil, "only this `type`: message, decision, artifact or memory; may be given several times")
	f.Var(&o.since, "since", "only what was written since this `time`, such as 1h (so long ago), 14:05 or RFC 3339")
	f.BoolVar(&o.direct, "direct", false, "the direct messages of all agents too; for the operator")
	f.Var(term.IntValue{To: &o.limit, Min: 1, Max: 100}, "limit", "most `rows` to list")
	o.AddIDs(env, f, "id")
	return cmd
}

func findWords(ctx context.Context, s *list.Spectator, q hub.SearchQuery) (list.Found, error) {
	page, err := s.Search(ctx, q)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	if page.Behind > 0 {
		s.Env.Note("the index is behind by %d rows, which were not searched", page.Behind)
	}
	t := term.NewTable("nothing holds these words", ">AGE", "TYPE", "ID", "WHERE(8)", "FROM(8)", "TEXT(20)")
	now := s.Now()
	for i := range page.Rows {
		r := &page.Rows[i]
		id := r.ID
		if r.MessageID != nil {
			id = "#" + id
		}
		text := r.Snippet
		if r.Title != "" && !strings.HasPrefix(text, r.Title) {
			text = r.Title + ": " + text
		}
		t.Add(term.Age(now, r.TS), r.Type, id, placeOf(rooms, r), r.FromAgent, text)
	}
	return list.Found{Rows: page.Rows, Text: t}, nil
}

// placeOf says where something was found.
func placeOf(rooms list.RoomNames, r *hub.Found) string {
	switch {
	case r.ToAgent != nil:
		return "to " + string(*r.ToAgent)
	case r.RoomID != nil:
		return rooms.Of(r.RoomID)
	}
	return "#" + string(r.Channel)
}
