package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/hub"
)

func newAppChannels(env *Env) *cobra.Command {
	var o struct {
		listing
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.sees = sightOfPublic
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (found, error) {
				return findChannels(ctx, s, hub.ChannelsQuery{Prefix: o.prefix, Archived: o.archived, Limit: hub.MaxPageRows})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.prefix, "prefix", "", "only channels whose name begins with this `text`")
	f.BoolVar(&o.archived, "archived", false, "archived channels too")
	o.listing.add(env, f)
	return cmd
}

func findChannels(ctx context.Context, s *spectator, q hub.ChannelsQuery) (found, error) {
	channels, err := hub.All(ctx, s.Channels, q)
	if err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	t := newTable("there is no such channel", "CHANNEL(12)", "ROOM(8)", "FROM(8)", ">AGE")
	now := s.now()
	for i := range channels {
		c := &channels[i]
		made := "" // the hub's own channels were there from the first
		if c.CreatedAt != 0 {
			made = age(now, c.CreatedAt)
		}
		name := string(c.Name)
		if c.Archived {
			name += " (archived)"
		}
		t.add(name, rooms.of(c.RoomID), c.CreatedBy, made)
	}
	return found{rows: channels, text: t}, nil
}

func newAppThreads(env *Env) *cobra.Command {
	var o struct {
		listing
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (found, error) {
				return findThreads(ctx, s, o.limit, o.archived)
			})
		},
	}
	addLimit(cmd.Flags(), &o.limit)
	cmd.Flags().BoolVar(&o.archived, "archived", false, "threads of archived rooms too")
	o.listing.add(env, cmd.Flags())
	return cmd
}

func findThreads(ctx context.Context, s *spectator, limit int, archived bool) (found, error) {
	all := hub.Walk(ctx, s.Threads, hub.ThreadsQuery{Limit: pageOf(limit)})
	if !archived {
		all = outsideArchive(ctx, s, all, func(h *hub.ThreadSummary) *hub.RoomID {
			if id, ok := h.Channel.Room(); ok {
				return &id
			}
			return nil
		})
	}
	threads, err := firstOf(limit, all)
	if err != nil {
		return found{}, err
	}
	t := newTable("there is no thread", "THREAD(12)", "STATUS", "CHANNEL(8)", ">MESSAGES", ">TASKS", ">LEASES", ">LATEST")
	now := s.now()
	for i := range threads {
		h := &threads[i]
		t.add(h.ThreadID, threadStatus(h.Status), h.Channel, h.MessageCount, fmt.Sprintf("%d/%d", h.OpenTaskCount, h.TotalTaskCount),
			h.ActiveClaimCount+h.ActiveLockCount, age(now, h.LatestMessageTS))
	}
	return found{rows: threads, text: t}, nil
}

func threadStatus(s hub.ThreadStatus) cell {
	return cell{string(s), map[hub.ThreadStatus]string{hub.ThreadWaiting: sgrYellow, hub.ThreadCompleted: sgrDim}[s]}
}
