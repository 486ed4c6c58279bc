package lists

import (
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
	n := pageRows(q.Limit)
	found := s.view.Directory.Page(hub.AgentID(behind), n+1, func(id hub.AgentID, s *hub.Session) bool {
		return strings.HasPrefix(string(id), q.Prefix) && (q.RoomID == "" || seats[id]) &&
			(q.Capability == "" || slices.Contains(s.Capabilities, q.Capability))
	})
	rows, next := paged(s.cursors, listAgents, found, n, func(s *hub.Session) []byte { return []byte(s.AgentID) })
	now := s.engine.Clock.Now().Wall
	out := make([]hub.LiveAgent, 0, len(rows))
	for i := range rows {
		row := s.agentWith(rows[i], now)
		if q.Details {
			if row.Details, err = s.details(row.AgentID, view.ViewerOf(ctx, "")); err != nil {
				return nil, "", err
			}
		}
		out = append(out, row)
	}
	return out, next, nil
}

// detailedRooms is how many rooms of an agent are shown.
const detailedRooms = 20

// details says where an agent is and what waits for it.
func (s *Lists) details(agent hub.AgentID, sees view.Viewer) (*hub.AgentDetails, error) {
	d := &hub.AgentDetails{Rooms: []hub.RoomID{}, Watching: []string{}}
	rooms, err := s.view.RoomsOf(agent)
	if err != nil {
		return nil, err
	}
	d.Rooms = append(d.Rooms, rooms[:min(len(rooms), detailedRooms)]...)
	latest := hub.RoomID("")
	if len(rooms) > 0 {
		latest = rooms[0]
	}
	if d.Unread, err = s.view.Unread(agent, latest); err != nil {
		return nil, err
	}
	d.CurrentTaskID = view.CurrentTask(s.view.Tasks.Of(agent, func(*core.StoredTask) bool { return true }), sees)
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
