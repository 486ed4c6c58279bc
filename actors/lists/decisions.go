package lists

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Decisions lists decisions, latest first; see hub.Records.
func (s *Lists) Decisions(_ context.Context, q hub.DecisionsQuery) ([]hub.Decision, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := s.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := s.cursors.beforeSeq(listDecisions, q.Cursor, core.PrefixDecision, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	p := newPage[hub.Decision](q.Limit)
	err = view.LatestRows(s.rows, core.TableDecision, core.TableDecisionByRoom, q.RoomID, before, func(d hub.Decision) bool {
		return p.add(d, view.IDKey(core.PrefixDecision, d.DecisionID))
	})
	return p.end(s.cursors, listDecisions, err)
}

// Decision returns a decision; see hub.Records.
func (s *Lists) Decision(_ context.Context, id hub.DecisionID) (hub.Decision, error) {
	missing := hub.NewError(hub.CodeDecisionNotFound, "there is no such decision").With("decision_id", id)
	seq, ok := core.SeqOf(core.PrefixDecision, string(id))
	if !ok {
		return hub.Decision{}, missing
	}
	d, err := view.StoredRow[hub.Decision](s.rows, core.TableDecision, core.SeqKey(seq))
	if errors.Is(err, core.ErrNotFound) {
		return d, missing
	}
	return d, err
}
