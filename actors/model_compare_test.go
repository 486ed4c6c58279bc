package actors

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// seen is all that can be read of a hub at a moment.
type seen struct {
	leases   map[string]modelLease
	waiting  map[string]string // agents in their order, by key
	tasks    map[hub.TaskID]modelTask
	runs     map[hub.RunID]modelRun
	active   map[hub.RunID]modelRun
	memories map[string]string
	archived bool // the project is
	rooms    map[hub.RoomID]modelRoom
	listed   map[hub.RoomID]modelRoom       // without those that are archived
	said     map[hub.MessageID]modelMessage // in rooms
	versions map[modelTitle]int64
	invites  map[hub.InviteID]modelInvite
	seats    map[modelSeat]hub.InviteID
	messages map[hub.AgentID][]modelMessage
}

// look reads all that can be read.
func (p *player) look(ctx context.Context) (*seen, error) {
	s := &seen{
		leases: map[string]modelLease{}, waiting: map[string]string{}, tasks: map[hub.TaskID]modelTask{}, memories: map[string]string{},
		messages: map[hub.AgentID][]modelMessage{},
	}
	if err := p.lookAtLeases(ctx, s); err != nil {
		return nil, err
	}
	for t, err := range hub.Walk(ctx, p.r.Tasks, hub.TasksQuery{Limit: hub.MaxPageRows, Viewer: "ann"}) {
		if err != nil {
			return nil, err
		}
		s.tasks[t.TaskID] = simpleTask(&t)
	}
	for m, err := range hub.Walk(ctx, p.r.Recall, hub.MemoryQuery{RoomID: p.room, Limit: hub.MaxPageRows}) {
		if err != nil {
			return nil, err
		}
		s.memories[m.Key] = m.Text
	}
	for _, a := range modelAgents {
		rows, _, err := p.events(ctx, a, 0)
		if err != nil {
			return nil, err
		}
		s.messages[a] = rows
	}
	if err := p.lookAtRuns(ctx, s); err != nil {
		return nil, err
	}
	return s, p.lookAtRooms(ctx, s)
}

func (p *player) lookAtLeases(ctx context.Context, s *seen) error {
	q := hub.LeasesQuery{ActiveOnly: true, Limit: hub.MaxPageRows}
	for c, err := range hub.Walk(ctx, p.r.Claims, q) {
		if err != nil {
			return err
		}

		s.leases["claim "+string(c.ClaimKey)] = modelLease{owner: c.OwnerAgentID, fence: c.Fence, deadline: p.hubTime(c.ExpiresAt)}
	}
	for which := range 3 {
		for name, key := range map[string]core.LeaseKey{
			"claim ": {Space: core.SpaceClaim, Key: fmt.Sprint("key-", which)},
			"lock ":  {Space: core.SpaceLock, Key: fmt.Sprint("/src/file-", which)},
		} {
			var agents []hub.AgentID
			for _, w := range p.r.view.Waiters.Of(key, "") {
				agents = append(agents, w.AgentID)
			}
			if len(agents) > 0 {
				s.waiting[name+key.Key] = fmt.Sprint(agents)
			}
		}
	}
	for l, err := range hub.Walk(ctx, p.r.Locks, q) {
		if err != nil {
			return err
		}
		s.leases["lock "+l.FilePath] = modelLease{owner: l.AgentID, fence: l.Fence, deadline: p.hubTime(l.ExpiresAt)}
	}
	return nil
}

// hubTime returns the hub time of a moment of wall time, if the hub runs until then.
func (p *player) hubTime(at hub.Time) int64 {
	now := p.r.engine.Clock.Now()
	return now.HubMS + int64(at-now.Wall)
}

// shows says how what can be read differs from what the model has.
func (m *simpleHub) shows(s *seen) error {
	leases := m.held()
	runs, active := m.allRuns()
	rooms, listed := m.allRooms()
	if s.archived != m.archived {
		return fmt.Errorf("it is read that the project is archived: %v, want %v", s.archived, m.archived)
	}
	texts := []string{
		differs("the lease", s.leases, leases), differs("the line for", s.waiting, m.lines()), differs("task", s.tasks, m.tasks), differs("the memory", s.memories, m.memories),
		differs("run", s.runs, runs), differs("the active run", s.active, active),
		differs("room", s.rooms, rooms), differs("the listed room", s.listed, listed),
		differs("message", s.said, m.said()), differs("the version of", s.versions, m.versions),
		differs("invite", s.invites, m.allInvites()), differs("the seat of", s.seats, m.seats),
	}
	for _, a := range modelAgents {
		texts = append(texts, unlike(a, s.messages[a], m.poll(a, 0)))
	}
	if text := cmp.Or(texts...); text != "" {
		return fmt.Errorf("it is read that %s", text)
	}
	return nil
}

// unlike says how what an agent gets differs from what it is to get; "": not at all.
func unlike(a hub.AgentID, got, want []modelMessage) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%s did not get %+v", a, want[i:])
		case i >= len(want) || got[i] != want[i]:
			return fmt.Sprintf("%s got %+v, and the next ones are %+v", a, got[i], want[i:])
		}
	}
	return ""
}

// differs says how two maps differ; "" if they do not.
func differs[K comparable, V comparable](what string, got, want map[K]V) string {
	for _, k := range inOrder(want) {
		if g, ok := got[k]; !ok || g != want[k] {
			return fmt.Sprintf("%s %v is %+v, want %+v", what, k, got[k], want[k])
		}
	}
	for _, k := range inOrder(got) {
		if _, ok := want[k]; !ok {
			return fmt.Sprintf("%s %v is %+v, and should not be there", what, k, got[k])
		}
	}
	return ""
}

func inOrder[K comparable, V any](of map[K]V) []K {
	return slices.SortedFunc(maps.Keys(of), func(a, b K) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}
