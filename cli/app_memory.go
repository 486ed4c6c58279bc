package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
)

func newAppMemory(env *Env) *cobra.Command {
	var o struct {
		listing
		roomRef
		query hub.MemoryQuery
		limit int
	}
	cmd := &cobra.Command{
		Use:   "memory [text]",
		Short: "List what a room and its project remember",
		Long: `List the memories of a room and of its project, the latest first. With a text it lists
those that hold its words, the best matches first. Without --room it is the room that
is bound to the current folder. With --history also the texts that later ones have
replaced are listed.`,
		Example: `  hubcli app memory
  hubcli app memory --room web-shop/checkout "tax rate"
  hubcli app memory --room . --key build --history --json`,
		Args: between(0, "text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			q := o.query
			if q.Query = strings.Join(args, " "); q.Query != "" && o.limit == 0 {
				o.limit = hub.DefaultPageRows
			}
			q.Limit = pageOf(o.limit)
			o.sees = sightOfPublic
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (got found, err error) {
				if q.RoomID, err = o.roomID(ctx, s.Client); err != nil {
					return found{}, err
				}
				return findMemories(ctx, s, q, o.limit)
			})
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomUsage)
	f.StringVar(&o.query.Key, "key", "", "only the memory with this `key`")
	f.StringVar(&o.query.Tag, "tag", "", "only memories with this `tag`")
	f.BoolVar(&o.query.History, "history", false, "list replaced memories too")
	addLimit(f, &o.limit)
	o.listing.add(env, f)
	return cmd
}

func findMemories(ctx context.Context, s *spectator, q hub.MemoryQuery, limit int) (found, error) {
	memories, err := firstOf(limit, hub.Walk(ctx, s.Recall, q))
	if err != nil {
		return found{}, err
	}
	t := newTable("nothing is remembered", "KEY(8)", "OF", ">AGE", "FROM(8)", "TAGS(6)", "TEXT(20)")
	now := s.now()
	for i := range memories {
		m := &memories[i]
		text := cell{text: m.Text}
		if m.ReplacedAt != nil {
			text = cell{m.Text + " (replaced " + age(now, *m.ReplacedAt) + " ago)", sgrDim}
		}
		t.add(m.Key, m.Scope, age(now, m.CreatedAt), m.By, strings.Join(m.Tags, ", "), text)
	}
	return found{rows: memories, text: t}, nil
}

func newAppDecisions(env *Env) *cobra.Command {
	var o struct {
		listing
		roomRef
		limit    int
		archived bool
	}
	cmd := &cobra.Command{
		Use:   "decisions",
		Short: "List the decisions of all rooms as a table",
		Long: `List what the rooms have decided, the latest first, with the names of the rooms and
ages. "hubcli decision list" shows the notes with their lines. Decisions of archived
rooms are listed with --archived or --room only.`,
		Example: `  hubcli app decisions --limit 20
  hubcli app decisions --room . --watch`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			o.sees = sightOfPublic
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (found, error) {
				room, err := o.onlyRoom(ctx, s.Client)
				if err != nil {
					return found{}, err
				}
				return findDecisions(ctx, s, room, o.limit, o.archived || room != "")
			})
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomOnlyUsage)
	addLimit(f, &o.limit)
	f.BoolVar(&o.archived, "archived", false, "decisions of archived rooms too")
	o.listing.add(env, f)
	return cmd
}

func findDecisions(ctx context.Context, s *spectator, room hub.RoomID, limit int, archived bool) (found, error) {
	all := hub.Walk(ctx, s.Decisions, hub.DecisionsQuery{RoomID: room, Limit: pageOf(limit)})
	if !archived {
		all = outsideArchive(ctx, s, all, func(d *hub.Decision) *hub.RoomID { return &d.RoomID })
	}
	decisions, err := firstOf(limit, all)
	if err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	t := newTable("nothing is decided", "DECISION", ">AGE", "ROOM(8)", "FROM(8)", "TITLE(16)", "NOTE(12)")
	now := s.now()
	for i := range decisions {
		d := &decisions[i]
		t.add(d.DecisionID, age(now, d.CreatedAt), rooms.of(&d.RoomID), d.By, d.Title, d.Note)
	}
	return found{rows: decisions, text: t}, nil
}
