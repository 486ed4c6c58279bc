package lists

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Runs lists runs; see hub.Runs.
func (s *Lists) Runs(ctx context.Context, q hub.RunsQuery) ([]hub.Run, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := s.cursors.beforeSeq(listRuns, q.Cursor, core.PrefixRun, "")
	if err != nil {
		return nil, "", err
	}
	p := newPage[hub.Run](q.Limit)
	var found []core.StoredRun
	switch {
	case q.Active && q.Status != "" && q.Status != hub.RunRunning: // active, and yet ended
	case q.Active || q.Status == hub.RunRunning:
		found = s.view.Runs.Page(q.RoomID, before, p.limit()+1)
	default:
		found, err = s.view.StoredRuns(q.RoomID, before, p.limit()+1, func(r *core.StoredRun) bool {
			return q.Status == "" || r.Run.Status == q.Status
		})
	}
	for i := 0; i < len(found) && err == nil && !p.full(); i++ {
		var row hub.Run
		if row, err = s.view.RunRow(found[i], view.ViewerOf(ctx, q.Viewer)); err == nil {
			p.add(row, view.IDKey(core.PrefixRun, row.RunID))
		}
	}
	return p.end(s.cursors, listRuns, err)
}

// Run returns one; see hub.Runs.
func (s *Lists) Run(ctx context.Context, id hub.RunID, viewer hub.AgentID) (hub.Run, error) {
	run, err := s.view.Run(id)
	if err != nil {
		return hub.Run{}, err
	}
	return s.view.RunRow(run, view.ViewerOf(ctx, viewer))
}
