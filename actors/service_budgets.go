package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// SetBudget sets or ends a budget; see hub.Budgets.
func (h *Hub) SetBudget(ctx context.Context, in hub.BudgetInput) (hub.Outcome[hub.Budget], error) {
	act := ruling("setBudget")
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.Budget](engine.EffectBudget), func() (engine.Command[*core.Budgets, hub.Budget, hub.Budget], error) {
		var err error
		if in.RoomID != "" {
			_, err = h.view.Room(in.RoomID)
		} else {
			in.AgentID, err = h.view.Successor(in.AgentID)
		}
		return engine.Command[*core.Budgets, hub.Budget, hub.Budget]{
			Owner: core.BudgetsOwner(), Answer: asDecided[hub.Budget],
			Decide: func(b *core.Budgets, now core.Now) (core.Decision[hub.Budget], error) { return b.Set(in, now) },
		}, err
	})
	return hub.Outcome[hub.Budget]{Row: row, Replayed: replayed}, err
}

// Budgets lists the budgets; see hub.Budgets.
func (h *Hub) Budgets(context.Context) ([]hub.Budget, error) { return h.view.Budgets(), nil }
