package spawns

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// maxPolicyTries bounds how often a request is made again because the policy has
// changed meanwhile.
const maxPolicyTries = 16

// Spawn starts a harness; see hub.Spawns. First the owner of the spawns decides, then
// the room gives a seat, then the process is started. If the hub dies before the end,
// the next start records the spawn as lost. A call that came through a spool is refused
// whatever the policy says: it would lead out of a sandbox.
func (m *Manager) Spawn(ctx context.Context, in hub.SpawnInput) (hub.Outcome[hub.Spawn], error) {
	none := hub.Outcome[hub.Spawn]{}
	caller := hub.CallerOf(ctx)
	switch {
	case caller.Relay != "":
		return none, hub.NewError(hub.CodeForbiddenRelay, "no call that came through a spool starts a process outside of its sandbox").
			WithFix("ask an agent outside of the sandbox to spawn, or the operator")
	case m.runner == nil:
		return none, hub.NewError(hub.CodeSpawnUnavailable, "this hub starts no processes").
			WithFix("start the hub with hubcli ensure: what serves a test or a library has no runner")
	case in.Connection != "" && !caller.Operator:
		return none, hub.NewError(hub.CodeOperatorRequired, "only the operator hands the key of a connection to a spawn").
			WithFix("leave connection out; or ask the operator to name the connection in the command of the spawn policy")
	case in.By == "" && !caller.Operator:
		return none, hub.Invalid("by", "by is missing").WithFix("name the agent that asks: it is told how the spawn ends")
	}
	in.By = cmp.Or(in.By, hub.AgentOperator)
	for range maxPolicyTries {
		row, started, replayed, err := m.request(ctx, &in)
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

// request is the first step: the owner's decision. Once that is committed, the spawn is
// supervised, whether or not the caller still waits. The channel gives the row that
// supervise sends.
func (m *Manager) request(ctx context.Context, in *hub.SpawnInput) (row hub.Spawn, started <-chan hub.Spawn, replayed bool, err error) {
	var t *spawn
	act := gate.Act{Op: "spawn", Agent: in.By, Room: in.RoomID}
	defer func() {
		if t != nil {
			m.done()
		}
	}()
	// If the caller leaves before the decision, there is no spawn. After the decision
	// this call waits for the answer in any case, so that a stop of the hub waits for it.
	row, replayed, err = gate.Do(context.WithoutCancel(ctx), m.gate, &act, m.codec(), func() (c engine.Command[*core.Spawns, hub.Spawn, hub.Spawn], err error) {
		if err := m.gate.Ask(ctx, &act); err != nil { // before any folder or key is looked at
			return c, err
		}
		request, planned, err := m.plan(ctx, in)
		if err != nil {
			return c, err
		}
		if !m.begin() {
			return c, engine.ErrStopping()
		}
		t = planned
		return engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
			Owner: core.SpawnsOwner(), Size: len(in.Prompt),
			Decide: func(s *core.Spawns, now core.Now) (core.Decision[hub.Spawn], error) {
				if ctx.Err() != nil {
					return core.Decision[hub.Spawn]{}, engine.ErrExpired()
				}
				return s.Request(request, now)
			},
			Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn {
				m.decided(row, t)
				return row
			},
		}, nil
	})
	if t == nil {
		return row, nil, replayed, err
	}
	if err != nil {
		m.forget(t)
	}
	return row, t.started, replayed, err
}

// plan makes the request of a spawn by the policy as it is now, and the plan of its process.
func (m *Manager) plan(ctx context.Context, in *hub.SpawnInput) (core.SpawnRequest, *spawn, error) {
	room, err := m.view.Room(in.RoomID)
	if err != nil {
		return core.SpawnRequest{}, nil, err
	}
	policy, err := Policy(m.rows)
	if err != nil {
		return core.SpawnRequest{}, nil, err
	}
	// The spawned agent may not get a name of its requester.
	taken := m.view.TakenBy(&hub.Caller{}, in.AgentID)
	c := core.SpawnRequest{In: *in, Remote: hub.CallerOf(ctx).Remote, Version: policy.Version, Taken: taken}
	command, _, err := c.PermittedBy(&policy)
	if err != nil {
		return c, nil, err
	}
	plan := &hub.SpawnPlan{Args: command.Args, Env: command.Env, Dir: command.Dir, Timeout: time.Duration(command.TimeoutSec) * time.Second}
	if plan.Dir == "" {
		if len(room.Bindings) == 0 {
			return c, nil, errNowhere(room.RoomID)
		}
		plan.Dir = room.Bindings[0]
	}
	values := core.SpawnValues{
		Prompt: in.Prompt, Role: in.Role, Title: in.Title, Room: in.RoomID, BaseURL: m.baseURL,
		Agent: longestID, // whichever it will get, the arguments fit
	}
	if plan.Args, err = core.SpawnArguments(command.Args, &values); err != nil {
		return c, nil, err
	}
	if err := m.runner.Check(plan); err != nil {
		return c, nil, err
	}
	if ref := cmp.Or(in.Connection, command.Connection); ref != "" {
		key, err := m.key(ctx, ref)
		if err != nil {
			return c, nil, err
		}
		c.Connection, plan.Secrets = key.ConnectionID, map[string]hub.Secret{key.Variable: key.Key}
	}
	return c, &spawn{plan: plan, args: command.Args, values: values, started: make(chan hub.Spawn, 1)}, nil
}

// StopSpawn requests the end of a spawn; see hub.Spawns.
func (m *Manager) StopSpawn(ctx context.Context, id hub.SpawnID, in hub.SpawnStopInput) (hub.Outcome[hub.Spawn], error) {
	by, operator := in.AgentID, hub.CallerOf(ctx).Operator
	if hub.CallerOf(ctx).Relay != "" {
		return hub.Outcome[hub.Spawn]{}, hub.NewError(hub.CodeForbiddenRelay, "no call that came through a spool stops a process outside of its sandbox").
			WithFix("make the call on the hub's machine")
	}
	// If the caller leaves before the decision, nothing is stopped. A decided stop is
	// carried out whether or not the caller still waits.
	var row hub.Spawn
	act := gate.Act{Op: "stopSpawn", Agent: by}
	out, replayed, err := gate.Do(context.WithoutCancel(ctx), m.gate, &act, m.codec(), func() (c engine.Command[*core.Spawns, hub.Spawn, hub.Spawn], err error) {
		row, err = Row(m.rows, id)
		return engine.Command[*core.Spawns, hub.Spawn, hub.Spawn]{
			Owner: core.SpawnsOwner(),
			Decide: func(s *core.Spawns, _ core.Now) (core.Decision[hub.Spawn], error) {
				if ctx.Err() != nil {
					return core.Decision[hub.Spawn]{}, engine.ErrExpired()
				}
				return s.Stop(id, by, operator)
			},
			Answer: func(row hub.Spawn, _ *core.Record) hub.Spawn { return row },
		}, err
	})
	switch {
	case errors.Is(err, core.ErrNotLive):
		row, err = Row(m.rows, id) // it has ended, which is durable
		return hub.Outcome[hub.Spawn]{Row: row}, err
	case errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) && (operator || by == row.By):
		// The spawn may be what fills the disk: a full disk must not prevent its end.
		m.stop(id, "it was stopped")
		row.Stopping = true
		return hub.Outcome[hub.Spawn]{Row: row}, nil
	case err != nil:
		return hub.Outcome[hub.Spawn]{}, err
	}
	if !out.Status.Terminal() && !m.stop(id, out.Reason) {
		// The spawn is not supervised, so there is no process; or it ends just now.
		m.end(out, core.SpawnOutcome{Status: hub.SpawnStopped, Reason: out.Reason})
		out, err = Row(m.rows, id)
	}
	return hub.Outcome[hub.Spawn]{Row: out, Replayed: replayed}, err
}

// longestID is an agent id of the greatest length.
var longestID = hub.AgentID(strings.Repeat("x", hub.MaxAgentIDBytes))

func errNowhere(room hub.RoomID) error {
	return hub.NewError(hub.CodeNotBound, "no folder is bound to the room, and the operator's command names none").
		With("room_id", room).With("bindings", []string{}).
		WithFix("bind one: hubcli room bind " + string(room) + " <folder>; or the operator sets dir in the command")
}

// codec stores only the id of the spawn. The row is stored anyway, and a repeated call
// gets the current row.
func (m *Manager) codec() engine.Codec[hub.Spawn] {
	return engine.Codec[hub.Spawn]{
		Kind:   engine.EffectSpawn,
		Encode: func(row hub.Spawn) []byte { return []byte(row.SpawnID) },
		Decode: func(_ context.Context, e *core.Effect) (hub.Spawn, error) { return Row(m.rows, hub.SpawnID(e.Answer)) },
	}
}
