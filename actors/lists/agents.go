package lists

import (
	"context"
	"slices"
	"strings"

	"hubcli/hub"
)

// Agents lists the live sessions; see hub.Sessions.
func (s *Lists) Agents(_ context.Context, q hub.AgentsQuery) ([]hub.Session, hub.Cursor, error) {
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
	return rows, next, nil
}
