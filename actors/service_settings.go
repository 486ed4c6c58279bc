package actors

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// ToolSurfaces lists the settings in the order of the harnesses; see
// hub.ToolSurfaces.
func (h *Hub) ToolSurfaces(_ context.Context, harness hub.Harness) ([]hub.ToolSurface, error) {
	asked := []hub.Harness{harness}
	if harness == "" {
		asked = hub.Harnesses()
	}
	out := make([]hub.ToolSurface, len(asked))
	for i, name := range asked {
		value, err := h.rows.Row(core.TableToolSurface, []byte(name))
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return nil, err
		}
		out[i] = core.SurfaceOf(name, hub.Surface(value))
	}
	return out, nil
}

// SetToolSurface changes one; see hub.ToolSurfaces.
func (h *Hub) SetToolSurface(ctx context.Context, in hub.ToolSurfaceInput) (hub.Outcome[hub.ToolSurface], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Settings, hub.ToolSurface, hub.ToolSurface]{
		Owner: core.SettingsOwner(), Agent: hub.AgentOperator,
		Decide: func(s *core.Settings, _ core.Now) (core.Decision[hub.ToolSurface], error) {
			return s.SetToolSurface(in), nil
		},
		Answer: func(row hub.ToolSurface, _ *core.Record) hub.ToolSurface { return row },
		Codec:  engine.JSONCodec[hub.ToolSurface](engine.EffectSurface),
	})
	return hub.Outcome[hub.ToolSurface]{Row: row, Replayed: replayed}, err
}

// Notify returns how the operator is told of questions; see hub.Notifications.
func (h *Hub) Notify(ctx context.Context) (hub.Notify, error) { return h.asks.Notify(ctx) }

// SetNotify replaces it; see hub.Notifications.
func (h *Hub) SetNotify(ctx context.Context, in hub.NotifyInput) (hub.Outcome[hub.Notify], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Settings, hub.Notify, hub.Notify]{
		Owner: core.SettingsOwner(), Agent: hub.AgentOperator,
		Decide: func(s *core.Settings, _ core.Now) (core.Decision[hub.Notify], error) { return s.SetNotify(in) },
		Answer: func(row hub.Notify, _ *core.Record) hub.Notify { return row },
		Codec:  engine.JSONCodec[hub.Notify](engine.EffectNotify),
	})
	return hub.Outcome[hub.Notify]{Row: row, Replayed: replayed}, err
}

// TestNotify sends a notification of a made-up question; see hub.Notifications.
func (h *Hub) TestNotify(ctx context.Context) (hub.Notified, error) { return h.asks.TestNotify(ctx) }
