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

// NewUndelivered makes the command undelivered.
func NewUndelivered(env *term.Env) *cobra.Command {
	var o list.Listing
	cmd := &cobra.Command{
		Use:   "undelivered",
		Short: "List mail that nobody is expected to read",
		Long: `List the direct messages that nobody is expected to read: to ids that never
registered, and to agents that are gone. An agent is gone if it is retired, or if it has
no session and has left the first of the messages for a day.

A row says who wrote, how many messages there are and since when, the number of the
newest, and for an id that never registered the known agents that may have been meant. It
goes when somebody registers the id, who then reads the messages, or when the agent comes
back. The command needs the secret of the hub, which it reads from the store, and refuses
where HUB_AGENT is set.`,
		Example: "  hubcli app undelivered\n  hubcli app undelivered --watch\n  hubcli app undelivered --json",
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfSecrets
			return o.Run(cmd, env, findUndelivered)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func findUndelivered(ctx context.Context, s *list.Spectator) (list.Found, error) {
	rows, err := hub.All(ctx, s.Undelivered, hub.UndeliveredQuery{Limit: hub.MaxPageRows})
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("no mail is undelivered", "TO(12)", "STATE(16)", "FROM(12)", ">MESSAGES", ">SINCE", ">NEWEST", "DID YOU MEAN?")
	now := s.Now()
	for i := range rows {
		r := &rows[i]
		state := strings.ReplaceAll(string(r.State), "_", " ")
		t.Add(r.ToAgent, state, idList(r.From), unreadCell(r.Messages), term.Age(now, r.Since), int64(r.LatestID), idList(r.Near))
	}
	return list.Found{Rows: rows, Text: t}, nil
}

// idList writes agents one behind the other.
func idList(ids []hub.AgentID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = string(id)
	}
	return strings.Join(parts, ", ")
}
