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
	now, out, n := s.engine.Clock.Now(), []hub.Ask{}, pageRows(q.Limit)
	all := hub.CallerOf(ctx).Operator && (q.AgentID == "" || q.AgentID == hub.AgentOperator)
	err = view.LatestRows(s.rows, core.TableAsk, core.TableAsk, "", before, func(stored core.StoredAsk) bool {
		a := &stored.Ask
		if (all || a.AgentID == q.AgentID) && (q.State == "" || a.State == q.State) &&
			(q.RoomID == "" || a.RoomID != nil && *a.RoomID == q.RoomID) {
			out = append(out, stored.Row(now))
		}
		return len(out) <= n
	})
	out, next := paged(s.cursors, listAsks, out, n, func(row *hub.Ask) []byte { return view.IDKey(core.PrefixAsk, row.AskID) })
	return out, next, err
}
