package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/spawns"
	"hubcli/actors/view"
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
	for _, a := range in.Allow {
		if _, err := h.view.Room(a.RoomID); err != nil {
			return hub.Outcome[hub.SpawnPolicy]{}, err
		}
	}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Spawns, hub.SpawnPolicy, hub.SpawnPolicy]{
		Owner: core.SpawnsOwner(), Agent: hub.AgentOperator,
		Decide: func(s *core.Spawns, _ core.Now) (core.Decision[hub.SpawnPolicy], error) { return s.SetPolicy(in) },
		Answer: func(row hub.SpawnPolicy, _ *core.Record) hub.SpawnPolicy { return row },
		Codec:  engine.JSONCodec[hub.SpawnPolicy](engine.EffectPolicy),
	})
	return hub.Outcome[hub.SpawnPolicy]{Row: row, Replayed: replayed}, err
}

// Spawns lists spawns, newest first; see hub.Spawns.
func (h *Hub) Spawns(_ context.Context, q hub.SpawnsQuery) ([]hub.Spawn, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := h.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := h.beforeSeq(listSpawns, q.Cursor, core.PrefixSpawn, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	out, n := []hub.Spawn{}, pageRows(q.Limit)
	err = view.LatestRows(h.rows, core.TableSpawn, core.TableSpawnByRoom, q.RoomID, before, func(row hub.Spawn) bool {
		if (q.Status == "" || row.Status == q.Status) && !(q.Active && row.Status.Terminal()) {
			out = append(out, row)
		}
		return len(out) <= n
	})
	out, next := paged(h, listSpawns, out, n, func(row *hub.Spawn) []byte { return view.IDKey(core.PrefixSpawn, row.SpawnID) })
	return out, next, err
}

// SpawnByID returns one; see hub.Spawns.
func (h *Hub) SpawnByID(_ context.Context, id hub.SpawnID) (hub.Spawn, error) {
	return spawns.Row(h.rows, id)
}
