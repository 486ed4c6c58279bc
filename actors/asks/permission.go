package asks

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// Policy returns what becomes of permission prompts; see hub.Permissions.
func (s *Asks) Policy() (hub.PermissionPolicy, error) { return core.LoadPermissions(s.rows) }

// SetPolicy replaces it; see hub.Permissions.
func (s *Asks) SetPolicy(ctx context.Context, in hub.PermissionPolicyInput) (hub.Outcome[hub.PermissionPolicy], error) {
	act := gate.Act{Op: "setPermissions", Agent: hub.AgentOperator}
	row, replayed, err := gate.Do(ctx, s.gate, &act, engine.JSONCodec[hub.PermissionPolicy](engine.EffectPermissions), func() (engine.Command[*core.Asks, hub.PermissionPolicy, hub.PermissionPolicy], error) {
		return engine.Command[*core.Asks, hub.PermissionPolicy, hub.PermissionPolicy]{
			Owner: core.AsksOwner(), Size: len(in.Rules),
			Decide: func(a *core.Asks, _ core.Now) (core.Decision[hub.PermissionPolicy], error) {
				return a.SetPermissions(in)
			},
			Answer: func(row hub.PermissionPolicy, _ *core.Record) hub.PermissionPolicy { return row },
		}, nil
	})
	return hub.Outcome[hub.PermissionPolicy]{Row: row, Replayed: replayed}, err
}

// Request decides about a permission prompt, or asks the operator; see hub.Permissions.
// Without a room that there is, it is about the one in which the agent sits, if any.
func (s *Asks) Request(ctx context.Context, in hub.PermissionInput) (hub.Permission, error) {
	act := gate.Act{Op: "requestPermission", Agent: in.AgentID}
	row, _, err := gate.Do(ctx, s.gate, &act, engine.JSONCodec[hub.Permission](engine.EffectPermission), func() (engine.Command[*core.Asks, hub.Permission, hub.Permission], error) {
		if in.RoomID != "" {
			if _, err := s.view.Room(in.RoomID); err != nil {
				in.RoomID = ""
			}
		}
		var err error
		if in.RoomID == "" {
			in.RoomID, err = s.view.RoomWithin(in.AgentID)
		}
		by := s.standing(ctx, in.AgentID)
		return engine.Command[*core.Asks, hub.Permission, hub.Permission]{
			Owner: core.AsksOwner(), Size: len(in.About),
			Decide: func(a *core.Asks, now core.Now) (core.Decision[hub.Permission], error) { return a.Permit(&in, by, now) },
			Answer: func(p hub.Permission, _ *core.Record) hub.Permission { return p },
		}, err
	})
	return row, err
}

// Await waits until a permission prompt is closed; see hub.Permissions. When the caller
// leaves, the harness has gone on without an answer, so the question is withdrawn.
func (s *Asks) Await(ctx context.Context, id hub.AskID, in hub.PermissionWaitInput) (hub.Permission, error) {
	closed, leave := s.waitFor(id)
	defer leave()
	stored, err := row(s.rows, id)
	switch {
	case err != nil:
		return hub.Permission{}, err
	case stored.Ask.Permission == nil || stored.Ask.AgentID != in.AgentID:
		return hub.Permission{}, errNotFound(id)
	case stored.Ask.State != hub.AskOpen:
		return core.PermissionOf(&stored.Ask), nil
	}
	hub.CallerOf(ctx).Waits()
	over := time.NewTimer(time.Duration(in.WaitSec * float64(time.Second)))
	defer over.Stop()
	why := ""
	select {
	case <-closed:
	case <-over.C:
		why = "nobody answered in time, so the harness asks its user"
	case <-ctx.Done():
		why = "the harness no longer waits"
	case <-s.engine.Ending: // the next start withdraws it
		return hub.Permission{Verdict: hub.PermissionNone, AskID: &id}, nil
	}
	if why != "" {
		s.giveUp(id, in.AgentID, why)
	}
	if stored, err = row(s.rows, id); err != nil {
		return hub.Permission{}, err
	}
	return core.PermissionOf(&stored.Ask), nil
}

// giveUp withdraws a permission prompt for which nobody waits any more. If that fails, its
// deadline closes it.
func (s *Asks) giveUp(id hub.AskID, agent hub.AgentID, why string) {
	_, _ = s.own(context.Background(), agent, len(why), func(a *core.Asks, _ core.Now) (core.Decision[core.StoredAsk], error) {
		return a.Withdraw(id, core.AskWithdrawal{Agent: agent, Reason: why})
	})
}

// withdrawLeft withdraws the permission prompts that an earlier process has left: their
// callers have gone with it.
func (s *Asks) withdrawLeft(left []core.StoredAsk) {
	for i := range left {
		if a := &left[i].Ask; a.Permission != nil {
			s.giveUp(a.AskID, a.AgentID, "the hub was started again, so the harness asks its user")
		}
	}
}

// waitFor returns a channel that is closed when the question is. leave ends the wait.
func (s *Asks) waitFor(id hub.AskID) (closed <-chan struct{}, leave func()) {
	c := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[id] == nil {
		s.waiting[id] = map[chan struct{}]bool{}
	}
	s.waiting[id][c] = true
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.waiting[id], c); len(s.waiting[id]) == 0 {
			delete(s.waiting, id)
		}
	}
}

// ended drops the deadline of a question that is closed, and tells those who wait for it.
// The caller holds the mutex.
func (s *Asks) ended(id hub.AskID) {
	delete(s.due, id)
	for c := range s.waiting[id] {
		close(c)
	}
	delete(s.waiting, id)
}
