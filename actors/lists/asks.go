package lists

import (
	"context"
	"errors"

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
	var bad error
	err = view.LatestRows(s.rows, core.TableAsk, core.TableAsk, "", before, func(stored core.StoredAsk) bool {
		if !all && stored.Ask.AgentID != q.AgentID {
			return true
		}
		if stored, bad = s.view.ShownAsk(ctx, stored); bad != nil {
			return false
		}
		a := &stored.Ask
		keeps := (q.State == "" || a.State == q.State) &&
			(q.RoomID == "" || a.RoomID != nil && *a.RoomID == q.RoomID)
		return !keeps || p.add(stored.Row(now), view.IDKey(core.PrefixAsk, a.AskID))
	})
	return p.end(s.cursors, listAsks, errors.Join(err, bad))
}
