package actors

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
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
	return changeSettings(ctx, h, "setToolSurface", engine.EffectSurface, 0, func(s *core.Settings, _ core.Now) (core.Decision[hub.ToolSurface], error) {
		return s.SetToolSurface(in), nil
	})
}

// changeSettings has the owner of the settings decide what the operator rules.
func changeSettings[T any](ctx context.Context, h *Hub, op string, kind uint8, size int, decide func(*core.Settings, core.Now) (core.Decision[T], error)) (hub.Outcome[T], error) {
	act := ruling(op)
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[T](kind), func() (engine.Command[*core.Settings, T, T], error) {
		return engine.Command[*core.Settings, T, T]{Owner: core.SettingsOwner(), Size: size, Decide: decide, Answer: asDecided[T]}, nil
	})
	return hub.Outcome[T]{Row: row, Replayed: replayed}, err
}

// Notify returns how the operator is told of questions; see hub.Notifications.
func (h *Hub) Notify(ctx context.Context) (hub.Notify, error) { return h.asks.Notify(ctx) }

// SetNotify replaces it; see hub.Notifications.
func (h *Hub) SetNotify(ctx context.Context, in hub.NotifyInput) (hub.Outcome[hub.Notify], error) {
	return changeSettings(ctx, h, "setNotify", engine.EffectNotify, 0, func(s *core.Settings, _ core.Now) (core.Decision[hub.Notify], error) {
		return s.SetNotify(in)
	})
}

// TestNotify sends a notification of a made-up question; see hub.Notifications.
func (h *Hub) TestNotify(ctx context.Context) (hub.Notified, error) { return h.asks.TestNotify(ctx) }
