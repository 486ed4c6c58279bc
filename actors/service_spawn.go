package actors

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// loadSpawns makes the state of the owner of spawns from its stored rows.
func (h *Hub) loadSpawns() (*core.Spawns, error) {
	policy, err := h.spawnPolicy()
	if err != nil {
		return nil, err
	}
	stored, err := view.StoredRow[core.LiveSpawns](h.rows, core.TableSpawnLive, core.SpawnLiveKey())
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	live := make([]hub.Spawn, len(stored.Live))
	for i, id := range stored.Live {
		if live[i], err = h.spawnRow(id); err != nil {
			return nil, err
		}
	}
	return core.RestoreSpawns(policy, live, stored.Recent), nil
}

func (h *Hub) spawnPolicy() (hub.SpawnPolicy, error) {
	value, err := h.rows.Row(core.TableSpawnPolicy, core.SpawnPolicyKey())
	if errors.Is(err, core.ErrNotFound) {
		return core.NoSpawns(), nil
	}
	if err != nil {
		return hub.SpawnPolicy{}, err
	}
	return core.RestorePolicy(value)
}

// spawnRow returns a stored spawn. spawn_not_found.
func (h *Hub) spawnRow(id hub.SpawnID) (hub.Spawn, error) {
	key, ok := core.SpawnKey(id)
	if !ok {
		return hub.Spawn{}, errSpawnNotFound(id)
	}
	row, err := view.StoredRow[hub.Spawn](h.rows, core.TableSpawn, key)
	if errors.Is(err, core.ErrNotFound) {
		err = errSpawnNotFound(id)
	}
	return row, err
}

func errSpawnNotFound(id hub.SpawnID) error {
	return hub.NewError(hub.CodeSpawnNotFound, "there is no such spawn").With("spawn_id", id).
		WithFix("GET /v1/spawn?room_id= lists the spawns of a room with their ids")
}

// liveSpawns lists the spawns that have not ended, in the order of their ids as
// texts.
func (h *Hub) liveSpawns() ([]hub.Spawn, error) {
	stored, err := view.StoredRow[core.LiveSpawns](h.rows, core.TableSpawnLive, core.SpawnLiveKey())
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	out := make([]hub.Spawn, 0, len(stored.Live))
	for _, id := range stored.Live {
		row, rowErr := h.spawnRow(id)
		if rowErr != nil {
			return nil, rowErr
		}
		if !row.Status.Terminal() { // it may have ended between the two looks
			out = append(out, row)
		}
	}
	return out, err
}

// spawnsIn lists the spawns of a room that have not ended.
func (h *Hub) spawnsIn(room hub.RoomID) ([]hub.Spawn, error) {
	live, err := h.liveSpawns()
	out := []hub.Spawn{}
	for _, row := range live {
		if row.RoomID == room {
			out = append(out, row)
		}
	}
	return out, err
}

// SpawnPolicy returns what is allowed; see hub.Spawns.
func (h *Hub) SpawnPolicy(context.Context) (hub.SpawnPolicy, error) { return h.spawnPolicy() }

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
		Codec:  engine.JsonCodec[hub.SpawnPolicy](engine.EffectPolicy),
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
func (h *Hub) SpawnByID(_ context.Context, id hub.SpawnID) (hub.Spawn, error) { return h.spawnRow(id) }

// maxPolicyTries bounds how often a request is made again because the policy has
// changed meanwhile.
const maxPolicyTries = 16

// Spawn starts a harness; see hub.Spawns. The owner of the spawns decides first,
// then the room gives a seat, then there is a process. If the hub dies before the
// end, the next start records the spawn as lost. A call from a spool is refused
// whatever the policy says: it would be the way out of a sandbox.
func (h *Hub) Spawn(ctx context.Context, in hub.SpawnInput) (hub.Outcome[hub.Spawn], error) {
	none := hub.Outcome[hub.Spawn]{}
	caller := hub.CallerOf(ctx)
	switch {
	case caller.Relay != "":
		return none, hub.NewError(hub.CodeForbiddenRelay, "no call that came through a spool starts a process outside of its sandbox").
			WithFix("ask an agent outside of the sandbox to spawn, or the operator")
	case h.options.Runner == nil:
		return none, hub.NewError(hub.CodeSpawnUnavailable, "this hub starts no processes").
			WithFix("start the hub with hubcli ensure: what serves a test or a library has no runner")
	case in.By == "" && !caller.Operator:
		return none, hub.Invalid("by", "by is missing").WithFix("name the agent that asks: it is told how the spawn ends")
	}
	in.By = cmp.Or(in.By, hub.AgentOperator)
	if row, again, err := h.spawnedBefore(ctx, in.By); err != nil || again {
		return hub.Outcome[hub.Spawn]{Row: row, Created: true, Replayed: again}, err
	}
	room, err := h.view.Room(in.RoomID)
	if err != nil {
		return none, err
	}
	for range maxPolicyTries {
		row, started, replayed, err := h.requestSpawn(ctx, in, room)
		switch {
		case errors.Is(err, core.ErrPolicyChanged):
			continue
		case err != nil || replayed:
			return hub.Outcome[hub.Spawn]{Row: row, Created: true, Replayed: replayed}, err
		}
		select {
		case row = <-started:
			return hub.Outcome[hub.Spawn]{Row: row, Created: true}, nil
		case <-ctx.Done():
			return none, engine.ErrAbandoned()
		}
	}
	return none, engine.ErrOverloaded()
}

// requestSpawn is the first step: the owner's decision. Once that is committed the
// view of spawns has it tended, whether or not the caller is still there; the
// channel gives the row that tend gives.
func (h *Hub) requestSpawn(ctx context.Context, in hub.SpawnInput, room hub.Room) (hub.Spawn, <-chan hub.Spawn, bool, error) {
	policy, err := h.spawnPolicy()
	if err != nil {
		return hub.Spawn{}, nil, false, err
	}
	// The names of who asks are not free for whom it asks for.
	taken := h.view.TakenBy(hub.WithCaller(ctx, &hub.Caller{}), in.AgentID)
	c := core.SpawnRequest{In: in, Remote: hub.CallerOf(ctx).Remote, Version: policy.Version, Taken: taken}
	command, _, err := c.PermittedBy(&policy)
	if err != nil {
		return hub.Spawn{}, nil, false, err
	}
	plan := &hub.SpawnPlan{Args: command.Args, Env: command.Env, Dir: command.Dir, Timeout: time.Duration(command.TimeoutSec) * time.Second}
	if plan.Dir == "" {
		if len(room.Bindings) == 0 {
			return hub.Spawn{}, nil, false, errNowhere(room.RoomID)
		}
		plan.Dir = room.Bindings[0]
	}
	values := core.SpawnValues{
		Prompt: in.Prompt, Role: in.Role, Title: in.Title, Room: in.RoomID, BaseURL: h.options.BaseURL,
		Agent: longestID, // whichever it will get, the arguments fit
	}
	if plan.Args, err = core.SpawnArguments(command.Args, &values); err != nil {
		return hub.Spawn{}, nil, false, err
	}
	if err := h.options.Runner.Check(plan); err != nil {
		return hub.Spawn{}, nil, false, err
	}
	t := &tending{plan: plan, args: command.Args, values: values, started: make(chan hub.Spawn, 1)}
	if !h.spawner.begin() {
		return hub.Spawn{}, nil, false, engine.ErrStopping()
	}
	defer h.spawner.done()
	// Who leaves before the decision has asked for nothing. Afterwards the answer is
	// waited for all the same, so that a stop of the hub waits for what will be.
	row, replayed, err := engine.Submit(context.WithoutCancel(ctx), h.engine, engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
		Owner: core.SpawnsOwner(), Agent: in.By, Size: len(in.Prompt),
		Decide: func(s *core.Spawns, now core.Now) (core.Decision[hub.Spawn], error) {
			if ctx.Err() != nil {
				return core.Decision[hub.Spawn]{}, engine.ErrExpired()
			}
			return s.Request(c, now)
		},
		Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn {
			h.spawner.decided(row, t)
			return row
		},
		Codec: h.spawnCodec(),
	})
	if err != nil {
		h.spawner.forget(t)
	}
	return row, t.started, replayed, err
}

// complete makes the plan of a spawn for the agent that it got.
func (t *tending) complete(baseURL string) (err error) {
	t.values.Agent = t.row.AgentID
	if t.plan.Args, err = core.SpawnArguments(t.args, &t.values); err != nil {
		return err
	}
	t.plan.Vars = map[string]string{
		"HUB_AGENT": string(t.row.AgentID), "HUB_ROOM": string(t.row.RoomID), "HUB_SPAWN": string(t.row.SpawnID), "HUB_BASE_URL": baseURL,
	}
	return nil
}

// longestID is as long as an agent id can be.
var longestID = hub.AgentID(strings.Repeat("x", hub.MaxAgentIDBytes))

// spawnedBefore returns what an earlier call with the caller's idempotency key was
// answered: whatever has changed since, it is not refused now.
func (h *Hub) spawnedBefore(ctx context.Context, by hub.AgentID) (hub.Spawn, bool, error) {
	effect, err := engine.ReserveEffect(h.engine, hub.CallerOf(ctx), by)
	if err != nil {
		return hub.Spawn{}, false, err
	}
	if effect.Stored == nil {
		effect.Free(h.engine)
		return hub.Spawn{}, false, nil
	}
	row, err := h.spawnCodec().Decode(ctx, effect.Stored)
	return row, true, err
}

func errNowhere(room hub.RoomID) error {
	return hub.NewError(hub.CodeNotBound, "no folder is bound to the room, and the operator's command names none").
		With("room_id", room).With("bindings", []string{}).
		WithFix("bind one: hubcli room bind " + string(room) + " <folder>; or the operator sets dir in the command")
}

// spawnCodec stores only which spawn it was: its row is stored anyway, and a
// repeated call gets it as it is then.
func (h *Hub) spawnCodec() engine.Codec[hub.Spawn] {
	return engine.Codec[hub.Spawn]{
		Kind:   engine.EffectSpawn,
		Encode: func(row hub.Spawn) []byte { return []byte(row.SpawnID) },
		Decode: func(_ context.Context, e *core.Effect) (hub.Spawn, error) { return h.spawnRow(hub.SpawnID(e.Answer)) },
	}
}
