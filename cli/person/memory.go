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

// NewMemory makes the command memory.
func NewMemory(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
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
		Args: opt.Between(0, "text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			q := o.query
			if q.Query = strings.Join(args, " "); q.Query != "" && o.limit == 0 {
				o.limit = hub.DefaultPageRows
			}
			q.Limit = list.PageOf(o.limit)
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if q.RoomID, err = o.RoomID(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				return findMemories(ctx, s, q, o.limit)
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.query.Key, "key", "", "only the memory with this `key`")
	f.StringVar(&o.query.Tag, "tag", "", "only memories with this `tag`")
	f.BoolVar(&o.query.History, "history", false, "list replaced memories too")
	list.AddLimit(f, &o.limit)
	o.AddIDs(env, f, "memory_id")
	return cmd
}

func findMemories(ctx context.Context, s *list.Spectator, q hub.MemoryQuery, limit int) (list.Found, error) {
	memories, err := list.FirstOf(limit, hub.Walk(ctx, s.Recall, q))
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("nothing is remembered", "KEY(8)", "OF", ">AGE", "FROM(8)", "TAGS(6)", "TEXT(20)")
	now := s.Now()
	for i := range memories {
		m := &memories[i]
		text := term.Cell{Text: m.Text}
		if m.ReplacedAt != nil {
			text = term.Cell{Text: m.Text + " (replaced " + term.Age(now, *m.ReplacedAt) + " ago)", Color: term.SGRDim}
		}
		t.Add(m.Key, m.Scope, term.Age(now, m.CreatedAt), m.By, strings.Join(m.Tags, ", "), text)
	}
	return list.Found{Rows: memories, Text: t}, nil
}

// NewDecisions makes the command decisions.
func NewDecisions(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
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
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				room, err := o.OnlyRoom(ctx, s.Client)
				if err != nil {
					return list.Found{}, err
				}
				return findDecisions(ctx, s, room, o.limit, o.archived || room != "")
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	list.AddLimit(f, &o.limit)
	f.BoolVar(&o.archived, "archived", false, "decisions of archived rooms too")
	o.AddIDs(env, f, "decision_id")
	return cmd
}

func findDecisions(ctx context.Context, s *list.Spectator, room hub.RoomID, limit int, archived bool) (list.Found, error) {
	all := hub.Walk(ctx, s.Decisions, hub.DecisionsQuery{RoomID: room, Limit: list.PageOf(limit)})
	if !archived {
		all = list.OutsideArchive(ctx, s, all, func(d *hub.Decision) *hub.RoomID { return &d.RoomID })
	}
	decisions, err := list.FirstOf(limit, all)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("nothing is decided", "DECISION", ">AGE", "ROOM(8)", "FROM(8)", "TITLE(16)", "NOTE(12)")
	now := s.Now()
	for i := range decisions {
		d := &decisions[i]
		t.Add(d.DecisionID, term.Age(now, d.CreatedAt), rooms.Of(&d.RoomID), d.By, d.Title, d.Note)
	}
	return list.Found{Rows: decisions, Text: t}, nil
}
