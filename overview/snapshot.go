package overview

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"hubcli/hub"
)

// The most rows that Gather reads of each list. A longer list is named in Cut.
const (
	mostAgents = 2 * hub.MaxPageRows
	mostRooms  = hub.MaxPageRows
	mostTasks  = 5 * hub.MaxPageRows
	mostLeases = 5 * hub.MaxPageRows
	mostEnded  = hub.MaxPageRows
)

// Hub is what Gather asks a hub. The client of the operator has it.
type Hub interface {
	AppStatus(ctx context.Context) (hub.AppStatus, error)
	Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error)
	Projects(ctx context.Context, q hub.ProjectsQuery) ([]hub.Project, hub.Cursor, error)
	Rooms(ctx context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error)
	Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error)
	Claims(ctx context.Context, q hub.LeasesQuery) ([]hub.Claim, hub.Cursor, error)
	Locks(ctx context.Context, q hub.LeasesQuery) ([]hub.Lock, hub.Cursor, error)
	Asks(ctx context.Context, q hub.AsksQuery) ([]hub.Ask, hub.Cursor, error)
	Pauses(ctx context.Context) ([]hub.Pause, error)
	Mutes(ctx context.Context) ([]hub.Mute, error)
	Loops(ctx context.Context) ([]hub.Loop, error)
}

// Source is where a Snapshot comes from.
type Source struct {
	Hub     Hub
	BaseURL string
	// Limited says that Hub does not show what only the operator sees.
	Limited bool
}

// Snapshot is a whole hub as it was when it was gathered, and what follows from that.
type Snapshot struct {
	At      hub.Time        `json:"at"`
	BaseURL string          `json:"base_url"`
	Limited bool            `json:"limited"` // without what only the operator sees
	Cut     []string        `json:"cut"`     // lists that have more rows than were read
	Trouble []hub.Trouble   `json:"trouble"` // the worst first
	Asks    []hub.Ask       `json:"asks"`    // the open questions to the human, the oldest first
	Pauses  []hub.Pause     `json:"pauses"`  // what the operator has paused
	Mutes   []hub.Mute      `json:"mutes"`   // the agents that the operator has muted
	Loops   []hub.Loop      `json:"loops"`   // agents that post to each other without progress
	Waits   []hub.Wait      `json:"waits"`
	Circles [][]hub.AgentID `json:"circles"` // agents that wait for each other
	Agents  []hub.LiveAgent `json:"agents"`  // by id
	Rooms   []hub.Room      `json:"rooms"`   // without those that are archived
	Tasks   []hub.Task      `json:"tasks"`   // that have not ended, newest first
	Claims  []hub.Claim     `json:"claims"`
	Locks   []hub.Lock      `json:"locks"`
	Hub     hub.AppStatus   `json:"hub"`

	archived []hub.Room // they are left out of Rooms, and have their names
	projects map[hub.ProjectID]hub.Project
	names    map[hub.RoomID]string
	lost     map[hub.TaskID]hub.TaskStatus // tasks that failed or were cancelled, of those that others waited for
}

// Gather reads the whole hub. now is the wall time.
func Gather(ctx context.Context, src Source, now hub.Time) (*Snapshot, error) {
	s := &Snapshot{At: now, BaseURL: src.BaseURL, Limited: src.Limited, Cut: []string{}}
	if err := s.read(ctx, src); err != nil {
		return nil, err
	}
	s.Derive()
	return s, nil
}

// read makes the calls. The status comes first: it says whether a hub answers at all.
func (s *Snapshot) read(ctx context.Context, src Source) (err error) {
	h, page := src.Hub, hub.MaxPageRows
	if s.Hub, err = h.AppStatus(ctx); err != nil {
		return err
	}
	if s.Agents, err = upTo(s, "agents", mostAgents, hub.Walk(ctx, h.Agents, hub.AgentsQuery{Details: true, Limit: page})); err != nil {
		return err
	}
	projects, err := upTo(s, "projects", hub.MaxKeptProjects, hub.Walk(ctx, h.Projects, hub.ProjectsQuery{Archived: true, Limit: page}))
	if err != nil {
		return err
	}
	s.projects = byID(projects, func(p hub.Project) hub.ProjectID { return p.ProjectID })
	if s.Rooms, err = upTo(s, "rooms", mostRooms, hub.Walk(ctx, h.Rooms, hub.RoomsQuery{Archived: true, Limit: page})); err != nil {
		return err
	}
	if s.Tasks, err = upTo(s, "tasks", mostTasks, hub.Walk(ctx, h.Tasks, hub.TasksQuery{Active: true, Limit: page})); err != nil {
		return err
	}
	s.leaveOutArchived()
	held := hub.LeasesQuery{ActiveOnly: true, Limit: page}
	if s.Claims, err = upTo(s, "claims", mostLeases, hub.Walk(ctx, h.Claims, held)); err != nil {
		return err
	}
	if s.Locks, err = upTo(s, "locks", mostLeases, hub.Walk(ctx, h.Locks, held)); err != nil {
		return err
	}
	if err := s.readLost(ctx, h); err != nil {
		return err
	}
	if s.Pauses, err = h.Pauses(ctx); err != nil {
		return err
	}
	if s.Mutes, err = h.Mutes(ctx); err != nil {
		return err
	}
	if s.Asks, s.Loops = []hub.Ask{}, []hub.Loop{}; src.Limited {
		return nil
	}
	if s.Loops, err = h.Loops(ctx); err != nil {
		return err
	}
	s.Asks, err = upTo(s, "asks", hub.MaxOpenAsks, hub.Walk(ctx, h.Asks, hub.AsksQuery{State: hub.AskOpen, Limit: page}))
	slices.Reverse(s.Asks) // those of one moment, too, are shown the oldest first
	return err
}

// leaveOutArchived drops archived rooms, their tasks and the seats in them from the lists.
func (s *Snapshot) leaveOutArchived() {
	gone := map[hub.RoomID]bool{}
	s.Rooms = slices.DeleteFunc(s.Rooms, func(r hub.Room) bool {
		if r.Archived {
			s.archived = append(s.archived, r)
			gone[r.RoomID] = true
		}
		return r.Archived
	})
	for i := range s.Agents {
		if d := s.Agents[i].Details; d != nil {
			d.Rooms = slices.DeleteFunc(d.Rooms, func(id hub.RoomID) bool { return gone[id] })
		}
	}
	s.Tasks = slices.DeleteFunc(s.Tasks, func(t hub.Task) bool { return t.RoomID != nil && gone[*t.RoomID] })
}

// readLost learns which of the ended tasks that others waited for failed or were
// cancelled. It looks at the newest ended tasks alone, and only if there are such tasks.
func (s *Snapshot) readLost(ctx context.Context, h Hub) error {
	live := byID(s.Tasks, func(t hub.Task) hub.TaskID { return t.TaskID })
	wanted := map[hub.TaskID]bool{}
	for i := range s.Tasks {
		for _, id := range s.Tasks[i].BlockedBy {
			if _, lives := live[id]; !lives && s.Tasks[i].Status == hub.TaskOpen {
				wanted[id] = true
			}
		}
	}
	s.lost = map[hub.TaskID]hub.TaskStatus{}
	for _, status := range []hub.TaskStatus{hub.TaskFailed, hub.TaskCancelled} {
		if len(wanted) == 0 {
			return nil
		}
		seen := 0
		for ended, err := range hub.Walk(ctx, h.Tasks, hub.TasksQuery{Status: status, Limit: mostEnded}) {
			if err != nil {
				return err
			}
			if wanted[ended.TaskID] {
				s.lost[ended.TaskID] = status
			}
			if seen++; seen == mostEnded {
				break
			}
		}
	}
	return nil
}

// Derive computes what follows from the rows: waits, circles and trouble.
func (s *Snapshot) Derive() {
	slices.SortStableFunc(s.Asks, func(a, b hub.Ask) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	s.names = s.roomNames()
	s.Waits = waits(s)
	s.Circles = circles(s.Waits)
	s.Trouble = trouble(s)
}

// upTo collects the first rows of a list. If there are more, it notes the list's name.
func upTo[T any](s *Snapshot, name string, most int, rows iter.Seq2[T, error]) ([]T, error) {
	list := []T{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(list) == most {
			s.Cut = append(s.Cut, name)
			break
		}
		list = append(list, row)
	}
	return list, nil
}

func byID[K comparable, T any](rows []T, id func(T) K) map[K]T {
	m := make(map[K]T, len(rows))
	for _, row := range rows {
		m[id(row)] = row
	}
	return m
}

// RoomName returns how a person names a room: its slug, or project/slug where several
// rooms have the slug. A room that is unknown has its id.
func (s *Snapshot) RoomName(id hub.RoomID) string {
	if name, ok := s.names[id]; ok {
		return name
	}
	return string(id)
}

// roomNames names all rooms.
func (s *Snapshot) roomNames() map[hub.RoomID]string {
	slugs, rooms := map[string]int{}, slices.Concat(s.Rooms, s.archived)
	for i := range rooms {
		slugs[rooms[i].Slug]++
	}
	names := make(map[hub.RoomID]string, len(rooms))
	for i := range rooms {
		r := &rooms[i]
		names[r.RoomID] = r.Slug
		if p, known := s.projects[r.ProjectID]; known && slugs[r.Slug] > 1 {
			names[r.RoomID] = p.Slug + "/" + r.Slug
		}
	}
	return names
}

// RoomOf returns the room that the agent works in, or nil.
func RoomOf(a *hub.LiveAgent) *hub.RoomID {
	if a.Details == nil || len(a.Details.Rooms) == 0 {
		return nil
	}
	return &a.Details.Rooms[0]
}
