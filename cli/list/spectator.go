package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// Spectator looks at a hub for a person: it registers nobody and marks nothing as seen.
type Spectator struct {
	*client.Client
	Env *term.Env
}

// sight says how much a spectator sees that is not public. With HUB_AGENT it sees as much
// as this agent, unless it needs the operator's secret.
type sight int

const (
	sightOfOperator sight = iota // everything, if the user can read the operator's secret
	SightOfPublic                // nothing of it
	SightOfSecrets               // everything; without the secret the command fails
)

// newSpectator decides as whom to look.
func newSpectator(ctx context.Context, env *term.Env, c *client.Client, sees sight) (*Spectator, error) {
	if sees == SightOfSecrets {
		if err := opt.PersonOnly(env, "what concerns other agents"); err != nil {
			return nil, err
		}
		return &Spectator{c.AsOperator(), env}, nil
	}
	if named := hub.AgentID(env.Getenv(hook.EnvAgent)); named != "" {
		if err := hub.CheckSender(hook.EnvAgent, named); err != nil {
			return nil, opt.AsUsage(err)
		}
		return &Spectator{c.As(named, ""), env}, nil
	}
	if sees == SightOfPublic {
		return &Spectator{c, env}, nil
	}
	operator := c.AsOperator()
	_, err := operator.AppStatus(ctx)
	var refused *hub.Error
	if errors.As(err, &refused) && refused.Code == hub.CodeOperatorRequired {
		env.Note("what concerns only some agents is not shown: %s", refused.Message)
		return &Spectator{c, env}, nil
	}
	return &Spectator{operator, env}, err
}

// Now is the time of this look.
func (s *Spectator) Now() hub.Time { return hub.TimeOf(s.Env.Now()) }

// OutsideArchive leaves out rows of archived rooms. It asks which those are when it meets the
// first row of a room.
func OutsideArchive[T any](ctx context.Context, s *Spectator, rows iter.Seq2[T, error], room func(*T) *hub.RoomID) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var archived map[hub.RoomID]bool
		for row, err := range rows {
			if err == nil && archived == nil && room(&row) != nil {
				archived, err = s.ArchivedRooms(ctx)
			}
			if err == nil && room(&row) != nil && archived[*room(&row)] {
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// ArchivedRooms says which rooms are archived.
func (s *Spectator) ArchivedRooms(ctx context.Context) (map[hub.RoomID]bool, error) {
	rooms, err := hub.All(ctx, s.Rooms, hub.RoomsQuery{Archived: true, Limit: hub.MaxPageRows})
	archived := map[hub.RoomID]bool{}
	for i := range rooms {
		archived[rooms[i].RoomID] = rooms[i].Archived
	}
	return archived, err
}

// RoomNames are the names of rooms as a person types them.
type RoomNames map[hub.RoomID]string

// RoomNames finds the names of all rooms: the slug, or project/slug where several rooms
// have the slug.
func (s *Spectator) RoomNames(ctx context.Context) (RoomNames, error) {
	rooms, err := hub.All(ctx, s.Rooms, hub.RoomsQuery{Archived: true, Limit: hub.MaxPageRows})
	if err != nil || len(rooms) == 0 {
		return nil, err
	}
	projects, err := hub.All(ctx, s.Projects, hub.ProjectsQuery{Archived: true, Limit: hub.MaxPageRows})
	if err != nil {
		return nil, err
	}
	slugs, of := map[string]int{}, map[hub.ProjectID]string{}
	for i := range rooms {
		slugs[rooms[i].Slug]++
	}
	for _, p := range projects {
		of[p.ProjectID] = p.Slug
	}
	names := RoomNames{}
	for i := range rooms {
		r := &rooms[i]
		names[r.RoomID] = r.Slug
		if slugs[r.Slug] > 1 {
			names[r.RoomID] = cmp.Or(of[r.ProjectID], string(r.ProjectID)) + "/" + r.Slug
		}
	}
	return names, nil
}

// RoomName returns the name of one room, safe for a terminal.
func RoomName(ctx context.Context, env *term.Env, c *client.Client, id hub.RoomID) (string, error) {
	names, err := (&Spectator{c, env}).RoomNames(ctx)
	return peertext.TerminalLine(names.Of(&id)), err
}

// Of returns the name of a room that a row may have.
func (n RoomNames) Of(id *hub.RoomID) string {
	if id == nil {
		return ""
	}
	return cmp.Or(n[*id], string(*id))
}

// asleep is the state of an agent that has direct messages and that nothing wakes. Its
// session may have ended since.
const asleep = "asleep"

// WithAsleep notes which of the agents are asleep, and adds those without a session.
func (s *Spectator) WithAsleep(ctx context.Context, agents []hub.LiveAgent, q hub.AgentsQuery) ([]hub.LiveAgent, error) {
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

// AgentState says in a few words what an agent does.
func AgentState(a *hub.LiveAgent) term.Cell {
	switch {
	case a.Activity == asleep:
		return term.Cell{Text: asleep, Color: term.SGRRed}
	case a.Activity == hub.ActivityNoTerminal:
		return term.Cell{Text: "no terminal", Color: term.SGRDim}
	case a.Presence == hub.PresenceAway:
		return term.Cell{Text: "away", Color: term.SGRDim}
	case a.Activity == hub.ActivityAtPrompt && a.PromptTool != "":
		return term.Cell{Text: "at prompt: " + a.PromptTool, Color: term.SGRYellow}
	case a.Activity == hub.ActivityAtPrompt:
		return term.Cell{Text: "at prompt", Color: term.SGRYellow}
	case a.Activity == hub.ActivityBlocked, a.Activity == hub.ActivityStuck:
		return term.Cell{Text: string(a.Activity), Color: term.SGRRed}
	case a.Activity == hub.ActivityWorking:
		return term.Cell{Text: string(a.Activity), Color: term.SGRGreen}
	}
	return term.Cell{Text: string(a.Activity)}
}

// taskTitles are the titles of tasks that agents work on.
type taskTitles map[hub.TaskID]string

// Titles finds them. A task that has ended in the meantime has none.
func (s *Spectator) Titles(ctx context.Context, agents []hub.LiveAgent) (taskTitles, error) {
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

// Of returns the number of a task and its title.
func (t taskTitles) Of(id *hub.TaskID) string {
	if id == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("#%d %s", *id, t[*id]))
}

// Paused says what a pause is of, as a person names it.
func (n RoomNames) Paused(t hub.PauseTarget) string {
	if t.RoomID == "" || t.All {
		return t.String()
	}
	return "room " + n.Of(&t.RoomID)
}
