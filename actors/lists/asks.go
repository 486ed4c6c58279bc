package lists

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Asks lists questions to the operator, newest first; see hub.Asks. An agent is shown its
// own, whatever it asks for.
func (s *Lists) Asks(ctx context.Context, q hub.AsksQuery) ([]hub.Ask, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := s.cursors.beforeSeq(listAsks, q.Cursor, core.PrefixAsk, "")
	if err != nil {
		return nil, "", err
	}
	now, p := s.engine.Clock.Now(), newPage[hub.Ask](q.Limit)
	all := hub.CallerOf(ctx).Operator && (q.AgentID == "" || q.AgentID == hub.AgentOperator)
	err = view.LatestRows(s.rows, core.TableAsk, core.TableAsk, "", before, func(stored core.StoredAsk) bool {
		a := &stored.Ask
		keeps := (all || a.AgentID == q.AgentID) && (q.State == "" || a.State == q.State) &&
			(q.RoomID == "" || a.RoomID != nil && *a.RoomID == q.RoomID)
		return !keeps || p.add(stored.Row(now), view.IDKey(core.PrefixAsk, a.AskID))
	})
	return p.end(s.cursors, listAsks, err)
}
