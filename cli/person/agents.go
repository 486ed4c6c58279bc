package person

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/overview"
)

// NewAgents makes the command agents.
func NewAgents(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		prefix, capability string
	}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents that are connected, and what each of them does",
		Long: `List the agents with a live session: what each of them does and since when, in
which harness, folder and rooms it is, how many messages it has not seen, the task that it
works on, and what it watches for. "at prompt" means that its program asks a user
whether a tool may run. "asleep" means that it has direct messages and that nothing
wakes it; such agents are listed also when their session has ended.`,
		Example: `  hubcli app agents
  hubcli app agents --room web-shop/checkout
  hubcli app agents --watch`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				room, err := o.OnlyRoom(ctx, s.Client)
				if err != nil {
					return list.Found{}, err
				}
				return findAgents(ctx, s, hub.AgentsQuery{RoomID: room, Prefix: o.prefix, Capability: o.capability, Details: true, Limit: hub.MaxPageRows})
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.StringVar(&o.prefix, "prefix", "", "only agents whose id begins with this `text`")
	f.StringVar(&o.capability, "capability", "", "only agents that have said they have this `capability`")
	o.AddIDs(env, f, "agent_id")
	return cmd
}

func findAgents(ctx context.Context, s *list.Spectator, q hub.AgentsQuery) (list.Found, error) {
	agents, err := hub.All(ctx, s.Agents, q)
	if err != nil {
		return list.Found{}, err
	}
	if agents, err = s.WithAsleep(ctx, agents, q); err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	archived, err := s.ArchivedRooms(ctx)
	if err != nil {
		return list.Found{}, err
	}
	titles, err := s.Titles(ctx, agents)
	if err != nil {
		return list.Found{}, err
	}
	now := s.Now()
	columns := []string{"AGENT(12)", "STATE(10)", ">SINCE", "HARNESS(6)?", "ROOM(8)", ">UNREAD", "TASK(8)", "WATCHING(8)?"}
	budgets := slices.ContainsFunc(agents, func(a hub.LiveAgent) bool { return a.Details != nil && a.Details.Budget > 0 })
	if budgets {
		columns = []string{"AGENT(12)", "STATE(10)", ">SINCE", "HARNESS(6)", "ROOM(8)", ">UNREAD", "TASK(8)", "WATCHING(8)", ">READ IN 1H"}
	}
	placed := slices.ContainsFunc(agents, func(a hub.LiveAgent) bool { return whereOf(&a) != "" })
	if placed {
		columns = slices.Insert(columns, 4, "WHERE(8)?")
	}
	t := term.NewTable("no agent is connected", columns...)
	for i := range agents {
		a := &agents[i]
		since := a.LastSeen
		if a.ActivitySince != nil {
			since = *a.ActivitySince
		}
		var d hub.AgentDetails
		if a.Details != nil {
			d = *a.Details
		}
		state := list.AgentState(a)
		if held := overview.Held(a); held != "" {
			state = term.Cell{Text: state.Text + ", " + held, Color: term.SGRYellow}
		}
		shown := slices.DeleteFunc(slices.Clone(d.Rooms), func(id hub.RoomID) bool { return archived[id] })
		row := []any{a.AgentID, state, term.Age(now, since), a.Harness(), roomsOf(rooms, shown), unreadCell(d.Unread), titles.Of(d.CurrentTaskID), watching(&d), spent(&d)}
		if placed {
			row = slices.Insert(row, 4, any(whereOf(a)))
		}
		t.Add(row...)
	}
	return list.Found{Rows: agents, Text: t}, nil
}

// whereOf names the folder and branch in which the session of an agent began; may be empty.
func whereOf(a *hub.LiveAgent) string {
	var s hub.Seat
	s.Folder, s.Branch = a.Place()
	return s.Where()
}

// spent says how much of its budget an agent was given in the last hour.
func spent(d *hub.AgentDetails) term.Cell {
	if d.Budget == 0 {
		return term.Cell{}
	}
	c := term.Cell{Text: fmt.Sprintf("%d of %d", d.GivenHour, d.Budget)}
	if d.GivenHour >= d.Budget {
		c.Color = term.SGRYellow
	}
	return c
}

func unreadCell(n int) term.Cell {
	switch {
	case n >= hub.MaxUnread:
		return term.Cell{Text: fmt.Sprintf("%d+", hub.MaxUnread), Color: term.SGRYellow}
	case n > 0:
		return term.Cell{Text: fmt.Sprint(n), Color: term.SGRYellow}
	}
	return term.Cell{Text: "0"}
}

// roomsOf names the latest room, and says how many there are besides.
func roomsOf(names list.RoomNames, rooms []hub.RoomID) string {
	switch len(rooms) {
	case 0:
		return ""
	case 1:
		return names.Of(&rooms[0])
	}
	return fmt.Sprintf("%s +%d", names.Of(&rooms[0]), len(rooms)-1)
}

func watching(d *hub.AgentDetails) string {
	text := strings.Join(d.Watching, ", ")
	switch {
	case d.Label == "":
		return text
	case text == "":
		return d.Label
	}
	return d.Label + ": " + text
}
