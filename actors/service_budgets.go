package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// SetBudget sets or ends a budget; see hub.Budgets.
func (h *Hub) SetBudget(ctx context.Context, in hub.BudgetInput) (hub.Outcome[hub.Budget], error) {
	var err error
	if in.RoomID != "" {
		_, err = h.view.Room(in.RoomID)
	} else {
		in.AgentID, err = h.view.Successor(in.AgentID)
	}
	if err != nil {
		return hub.Outcome[hub.Budget]{}, err
	}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Budgets, hub.Budget, hub.Budget]{
		Owner: core.BudgetsOwner(), Agent: hub.AgentOperator,
		Decide: func(b *core.Budgets, now core.Now) (core.Decision[hub.Budget], error) { return b.Set(in, now) },
		Answer: func(row hub.Budget, _ *core.Record) hub.Budget { return row },
		Codec:  engine.JSONCodec[hub.Budget](engine.EffectBudget),
	})
	return hub.Outcome[hub.Budget]{Row: row, Replayed: replayed}, err
}

// Budgets lists the budgets; see hub.Budgets.
func (h *Hub) Budgets(context.Context) ([]hub.Budget, error) { return h.view.Budgets(), nil }
