package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/overview"
)

func newAppAgents(env *Env) *cobra.Command {
	var o struct {
		listing
		roomRef
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			return o.run(cmd, env, func(ctx context.Context, s *spectator) (found, error) {
				room, err := o.onlyRoom(ctx, s.Client)
				if err != nil {
					return found{}, err
				}
				return findAgents(ctx, s, hub.AgentsQuery{RoomID: room, Prefix: o.prefix, Capability: o.capability, Details: true, Limit: hub.MaxPageRows})
			})
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomOnlyUsage)
	f.StringVar(&o.prefix, "prefix", "", "only agents whose id begins with this `text`")
	f.StringVar(&o.capability, "capability", "", "only agents that have said they have this `capability`")
	o.listing.add(env, f)
	return cmd
}

func findAgents(ctx context.Context, s *spectator, q hub.AgentsQuery) (found, error) {
	agents, err := hub.All(ctx, s.Agents, q)
	if err != nil {
		return found{}, err
	}
	if agents, err = s.withAsleep(ctx, agents, q); err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	archived, err := s.archivedRooms(ctx)
	if err != nil {
		return found{}, err
	}
	titles, err := s.titles(ctx, agents)
	if err != nil {
		return found{}, err
	}
	now := s.now()
	columns := []string{"AGENT(12)", "STATE(10)", ">SINCE", "HARNESS(6)?", "ROOM(8)", ">UNREAD", "TASK(8)", "WATCHING(8)?"}
	budgets := slices.ContainsFunc(agents, func(a hub.LiveAgent) bool { return a.Details != nil && a.Details.Budget > 0 })
	if budgets {
		columns = []string{"AGENT(12)", "STATE(10)", ">SINCE", "HARNESS(6)", "ROOM(8)", ">UNREAD", "TASK(8)", "WATCHING(8)", ">READ IN 1H"}
	}
	placed := slices.ContainsFunc(agents, func(a hub.LiveAgent) bool { return whereOf(&a) != "" })
	if placed {
		columns = slices.Insert(columns, 4, "WHERE(8)?")
	}
	t := newTable("no agent is connected", columns...)
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
		state := agentState(a)
		if held := overview.Held(a); held != "" {
			state = cell{state.text + ", " + held, sgrYellow}
		}
		shown := slices.DeleteFunc(slices.Clone(d.Rooms), func(id hub.RoomID) bool { return archived[id] })
		row := []any{a.AgentID, state, age(now, since), a.Harness(), roomsOf(rooms, shown), unreadCell(d.Unread), titles.of(d.CurrentTaskID), watching(&d), spent(&d)}
		if placed {
			row = slices.Insert(row, 4, any(whereOf(a)))
		}
		t.add(row...)
	}
	return found{rows: agents, text: t}, nil
}

// whereOf names the folder and branch in which the session of an agent began; may be empty.
func whereOf(a *hub.LiveAgent) string {
	var s hub.Seat
	s.Folder, s.Branch = a.Place()
	return s.Where()
}

// asleep is the state of an agent that has direct messages and that nothing wakes. Its
// session may have ended since.
const asleep = "asleep"

// withAsleep notes which of the agents are asleep, and adds those without a session.
func (s *spectator) withAsleep(ctx context.Context, agents []hub.LiveAgent, q hub.AgentsQuery) ([]hub.LiveAgent, error) {
	status, err := s.AppStatus(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range status.Asleep {
		at := slices.IndexFunc(agents, func(live hub.LiveAgent) bool { return live.AgentID == a.AgentID })
		if at >= 0 {
			agents[at].Activity, agents[at].ActivitySince = asleep, &a.Since
			continue
		}
		if q.Capability != "" || !strings.HasPrefix(string(a.AgentID), q.Prefix) || q.RoomID != "" && (a.RoomID == nil || *a.RoomID != q.RoomID) {
			continue
		}
		row := hub.LiveAgent{Presence: hub.PresenceGone, Activity: asleep, ActivitySince: &a.Since, Listener: hub.ListenerNone}
		row.AgentID, row.LastSeen = a.AgentID, a.Since
		row.Details = &hub.AgentDetails{Rooms: []hub.RoomID{}, Unread: a.Unread, Watching: []string{}}
		if a.RoomID != nil {
			row.Details.Rooms = append(row.Details.Rooms, *a.RoomID)
		}
		agents = append(agents, row)
	}
	return agents, nil
}

// spent says how much of its budget an agent was given in the last hour.
func spent(d *hub.AgentDetails) cell {
	if d.Budget == 0 {
		return cell{}
	}
	c := cell{text: fmt.Sprintf("%d of %d", d.GivenHour, d.Budget)}
	if d.GivenHour >= d.Budget {
		c.color = sgrYellow
	}
	return c
}

// agentState says in a few words what an agent does.
func agentState(a *hub.LiveAgent) cell {
	switch {
	case a.Activity == asleep:
		return cell{asleep, sgrRed}
	case a.Activity == hub.ActivityNoTerminal:
		return cell{"no terminal", sgrDim}
	case a.Presence == hub.PresenceAway:
		return cell{"away", sgrDim}
	case a.Activity == hub.ActivityAtPrompt && a.PromptTool != "":
		return cell{"at prompt: " + a.PromptTool, sgrYellow}
	case a.Activity == hub.ActivityAtPrompt:
		return cell{"at prompt", sgrYellow}
	case a.Activity == hub.ActivityBlocked, a.Activity == hub.ActivityStuck:
		return cell{string(a.Activity), sgrRed}
	case a.Activity == hub.ActivityWorking:
		return cell{string(a.Activity), sgrGreen}
	}
	return cell{text: string(a.Activity)}
}

func unreadCell(n int) cell {
	switch {
	case n >= hub.MaxUnread:
		return cell{fmt.Sprintf("%d+", hub.MaxUnread), sgrYellow}
	case n > 0:
		return cell{fmt.Sprint(n), sgrYellow}
	}
	return cell{text: "0"}
}

// roomsOf names the latest room, and says how many there are besides.
func roomsOf(names roomNames, rooms []hub.RoomID) string {
	switch len(rooms) {
	case 0:
		return ""
	case 1:
		return names.of(&rooms[0])
	}
	return fmt.Sprintf("%s +%d", names.of(&rooms[0]), len(rooms)-1)
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

// taskTitles are the titles of tasks that agents work on.
type taskTitles map[hub.TaskID]string

// titles finds them. A task that has ended in the meantime has none.
func (s *spectator) titles(ctx context.Context, agents []hub.LiveAgent) (taskTitles, error) {
	wanted := false
	for i := range agents {
		wanted = wanted || agents[i].Details != nil && agents[i].Details.CurrentTaskID != nil
	}
	if !wanted {
		return nil, nil
	}
	tasks, err := hub.All(ctx, s.Tasks, hub.TasksQuery{Active: true, Limit: hub.MaxPageRows})
	titles := taskTitles{}
	for i := range tasks {
		titles[tasks[i].TaskID] = tasks[i].Title
	}
	return titles, err
}

// of returns the number of a task and its title.
func (t taskTitles) of(id *hub.TaskID) string {
	if id == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("#%d %s", *id, t[*id]))
}
