package person

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewChannels makes the command channels.
func NewChannels(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		prefix   string
		archived bool
	}
	cmd := &cobra.Command{
		Use:   "channels",
		Short: "List the channels",
		Long: `List the channels by name: the room to which a channel belongs, the agent that made it,
and how long ago. "hubcli log --channel NAME" shows what was said there. Channels that
are archived are listed only with --archived, and say so.`,
		Example: `  hubcli app channels
  hubcli app channels --archived
  hubcli app channels --prefix build-`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				return findChannels(ctx, s, hub.ChannelsQuery{Prefix: o.prefix, Archived: o.archived, Limit: hub.MaxPageRows})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.prefix, "prefix", "", "only channels whose name begins with this `text`")
	f.BoolVar(&o.archived, "archived", false, "archived channels too")
	o.AddIDs(env, f, "name")
	return cmd
}

func findChannels(ctx context.Context, s *list.Spectator, q hub.ChannelsQuery) (list.Found, error) {
	channels, err := hub.All(ctx, s.Channels, q)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("there is no such channel", "CHANNEL(12)", "ROOM(8)", "FROM(8)", ">AGE")
	now := s.Now()
	for i := range channels {
		c := &channels[i]
		made := "" // the hub's own channels were there from the first
		if c.CreatedAt != 0 {
			made = term.Age(now, c.CreatedAt)
		}
		name := string(c.Name)
		if c.Archived {
			name += " (archived)"
		}
		t.Add(name, rooms.Of(c.RoomID), c.CreatedBy, made)
	}
	return list.Found{Rows: channels, Text: t}, nil
}

// NewThreads makes the command threads.
func NewThreads(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		limit    int
		archived bool
	}
	cmd := &cobra.Command{
		Use:   "threads",
		Short: "List the threads, and how far each of them is",
		Long: `List the threads, those with the latest message first: how far the tasks of each are,
the number of its messages, of its open tasks and of all its tasks, and of the claims
and locks that agents hold for it. "hubcli log --thread-id ID" shows what was said
there. Threads that hold direct messages alone are listed for the operator: the
command reads the operator's secret in the store of the hub. With HUB_AGENT it lists
what this agent may see. Threads of archived rooms are listed with --archived only.`,
		Example: `  hubcli app threads
  hubcli app threads --limit 20 --watch`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				return findThreads(ctx, s, o.limit, o.archived)
			})
		},
	}
	list.AddLimit(cmd.Flags(), &o.limit)
	cmd.Flags().BoolVar(&o.archived, "archived", false, "threads of archived rooms too")
	o.AddIDs(env, cmd.Flags(), "thread_id")
	return cmd
}

func findThreads(ctx context.Context, s *list.Spectator, limit int, archived bool) (list.Found, error) {
	all := hub.Walk(ctx, s.Threads, hub.ThreadsQuery{Limit: list.PageOf(limit)})
	if !archived {
		all = list.OutsideArchive(ctx, s, all, func(h *hub.ThreadSummary) *hub.RoomID {
			if id, ok := h.Channel.Room(); ok {
				return &id
			}
			return nil
		})
	}
	threads, err := list.FirstOf(limit, all)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("there is no thread", "THREAD(12)", "STATUS", "CHANNEL(8)", ">MESSAGES", ">TASKS", ">LEASES", ">LATEST")
	now := s.Now()
	for i := range threads {
		h := &threads[i]
		t.Add(h.ThreadID, threadStatus(h.Status), h.Channel, h.MessageCount, fmt.Sprintf("%d/%d", h.OpenTaskCount, h.TotalTaskCount),
			h.ActiveClaimCount+h.ActiveLockCount, term.Age(now, h.LatestMessageTS))
	}
	return list.Found{Rows: threads, Text: t}, nil
}

func threadStatus(s hub.ThreadStatus) term.Cell {
	return term.Cell{Text: string(s), Color: map[hub.ThreadStatus]string{hub.ThreadWaiting: term.SGRYellow, hub.ThreadCompleted: term.SGRDim}[s]}
}
