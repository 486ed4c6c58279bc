package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Agents lists the live sessions; see hub.Sessions.
func (s *Lists) Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	behind, err := s.cursors.textPlace(listAgents, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	var seats map[hub.AgentID]bool
	if q.RoomID != "" {
		if seats, err = s.view.SeatsIn(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	p := newPage[hub.LiveAgent](q.Limit)
	found := s.view.Directory.Page(hub.AgentID(behind), p.limit()+1, func(id hub.AgentID, s *hub.Session) bool {
		return strings.HasPrefix(string(id), q.Prefix) && (q.RoomID == "" || seats[id]) &&
			(q.Capability == "" || slices.Contains(s.Capabilities, q.Capability))
	})
	var acting map[hub.AgentID][]hub.RoomID
	if q.Details {
		if acting, err = s.actingIn(found); err != nil {
			return nil, "", err
		}
	}
	now := s.engine.Clock.Now().Wall
	for i := 0; i < len(found) && err == nil && !p.full(); i++ {
		row := s.agentWith(found[i], now)
		if q.Details {
			row.Details, err = s.details(row.AgentID, acting[row.AgentID], view.ViewerOf(ctx, ""))
		}
		p.add(row, []byte(row.AgentID))
	}
	return p.end(s.cursors, listAgents, err)
}

// actingIn returns the rooms in which the agents act without having joined, the latest
// first. No list of an agent holds these seats, so it looks at the seats of all rooms.
func (s *Lists) actingIn(agents []hub.Session) (map[hub.AgentID][]hub.RoomID, error) {
	listed := make(map[hub.AgentID]bool, len(agents))
	for i := range agents {
		listed[agents[i].AgentID] = true
	}
	var rooms []hub.RoomID
	s.view.Places.Rooms("", func(r *hub.Room) { rooms = append(rooms, r.RoomID) })
	var found []core.StoredSeat
	for _, room := range rooms {
		seats, err := s.view.SeatsOf(room)
		if err != nil {
			return nil, err
		}
		for i := range seats {
			if listed[seats[i].AgentID] && seats[i].Acting() {
				found = append(found, seats[i])
			}
		}
	}
	slices.SortFunc(found, func(a, b core.StoredSeat) int {
		return cmp.Or(cmp.Compare(b.JoinedAt, a.JoinedAt), strings.Compare(string(a.RoomID), string(b.RoomID)))
	})
	acting := map[hub.AgentID][]hub.RoomID{}
	for i := range found {
		acting[found[i].AgentID] = append(acting[found[i].AgentID], found[i].RoomID)
	}
	return acting, nil
}

// detailedRooms is how many rooms of an agent are shown.
const detailedRooms = 20

// details says where an agent is and what waits for it.
func (s *Lists) details(agent hub.AgentID, acting []hub.RoomID, sees view.Viewer) (*hub.AgentDetails, error) {
	d := &hub.AgentDetails{Rooms: []hub.RoomID{}, Watching: []string{}, GivenHour: s.view.GivenLately(agent, s.engine.Clock.Now().Wall)}
	rooms, err := s.view.RoomsOf(agent)
	if err != nil {
		return nil, err
	}
	d.Rooms = append(append(d.Rooms, rooms...), acting...)
	d.Rooms = d.Rooms[:min(len(d.Rooms), detailedRooms)]
	latest := hub.RoomID("")
	if len(rooms) > 0 {
		latest = rooms[0]
	}
	if d.Unread, err = s.view.Unread(agent, latest); err != nil {
		return nil, err
	}
	d.CurrentTaskID = view.CurrentTask(s.view.Tasks.Of(agent, func(*core.StoredTask) bool { return true }), sees)
	if d.Paused, err = s.view.Paused(agent, ""); err != nil {
		return nil, err
	}
	if d.Budget, err = s.view.BudgetOf(agent); err != nil {
		return nil, err
	}
	d.Muted = s.view.AnyMute(agent, s.engine.Clock.Now().Wall)
	if label, conditions, parked := s.watching(agent); parked {
		d.Label, d.Watching = label, conditions
	}
	return d, nil
}

// agentWith shows a session with what its agent does. A session that has ended since it
// was listed is shown as it was.
func (s *Lists) agentWith(row hub.Session, now hub.Time) hub.LiveAgent {
	d := s.view.Directory.Doing(row.AgentID)
	if d.Session == nil || d.Session.Incarnation != row.Incarnation {
		d = view.Doing{Session: &row}
	}
	out := hub.LiveAgent{Session: row, Presence: d.Presence(now), PromptTool: d.PromptTool(), Listener: d.Listener()}
	var since hub.Time
	out.Activity, since = d.Activity(s.view.Tasks.Of(row.AgentID, func(*core.StoredTask) bool { return true }), now)
	out.ActivitySince = core.Optional(since)
	return out
}
