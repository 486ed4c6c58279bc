package actors

import (
	"context"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/spawns"
	"hubcli/hub"
)

// Spawn starts a harness; see hub.Spawns.
func (h *Hub) Spawn(ctx context.Context, in hub.SpawnInput) (hub.Outcome[hub.Spawn], error) {
	return h.spawns.Spawn(ctx, in)
}

// StopSpawn requests the end of a spawn; see hub.Spawns.
func (h *Hub) StopSpawn(ctx context.Context, id hub.SpawnID, in hub.SpawnStopInput) (hub.Outcome[hub.Spawn], error) {
	return h.spawns.StopSpawn(ctx, id, in)
}

// SpawnPolicy returns what is allowed; see hub.Spawns.
func (h *Hub) SpawnPolicy(context.Context) (hub.SpawnPolicy, error) { return spawns.Policy(h.rows) }

// SetSpawnPolicy replaces what is allowed; see hub.Spawns.
func (h *Hub) SetSpawnPolicy(ctx context.Context, in hub.SpawnPolicyInput) (hub.Outcome[hub.SpawnPolicy], error) {
	act := ruling("setSpawnPolicy")
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.SpawnPolicy](engine.EffectPolicy), func() (engine.Command[*core.Spawns, hub.SpawnPolicy, hub.SpawnPolicy], error) {
		err := h.findPolicy(ctx, &in)
		return engine.Command[*core.Spawns, hub.SpawnPolicy, hub.SpawnPolicy]{
			Owner: core.SpawnsOwner(), Answer: asDecided[hub.SpawnPolicy],
			Decide: func(s *core.Spawns, _ core.Now) (core.Decision[hub.SpawnPolicy], error) { return s.SetPolicy(in) },
		}, err
	})
	return hub.Outcome[hub.SpawnPolicy]{Row: row, Replayed: replayed}, err
}

// findPolicy finds the rooms and connections that a policy names.
func (h *Hub) findPolicy(ctx context.Context, in *hub.SpawnPolicyInput) error {
	for _, a := range in.Allow {
		if _, err := h.view.Room(a.RoomID); err != nil {
			return err
		}
	}
	in.Commands = slices.Clone(in.Commands)
	for i := range in.Commands {
		// The id is kept: a label can be given to another connection, and what is the
		// beginning of one id now can be that of two later.
		if ref := in.Commands[i].Connection; ref != "" {
			id, err := h.ConnectionNamed(ctx, ref)
			if err != nil {
				return err
			}
			in.Commands[i].Connection = string(id)
		}
	}
	return nil
}

// SpawnByID returns one; see hub.Spawns.
func (h *Hub) SpawnByID(_ context.Context, id hub.SpawnID) (hub.Spawn, error) {
	return spawns.Row(h.rows, id)
}
