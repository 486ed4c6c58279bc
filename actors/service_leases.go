package actors

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Claim asks for a claim; see hub.Leases.
func (h *Hub) Claim(ctx context.Context, in hub.ClaimInput) (hub.Grant[hub.Claim], error) {
	if in.ClaimKey == "" {
		in.ClaimKey = view.TaskKey(in.TaskMessageID)
	}
	if err := h.view.CheckClaimed(view.ViewerOf(ctx, in.OwnerAgentID), &in); err != nil {
		return hub.Grant[hub.Claim]{}, err
	}
	c := core.AcquireCommand{
		Space: core.SpaceClaim, Key: string(in.ClaimKey), Agent: in.OwnerAgentID, Thread: in.ThreadID,
		TaskMessage: in.TaskMessageID, TTLSec: in.TTLSec, Metadata: in.Metadata,
	}
	a, replayed, err := h.acquire(ctx, c, in.WaitSec)
	return claimGrant(a, replayed), err
}

// RefreshClaim renews a claim; see hub.Leases.
func (h *Hub) RefreshClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Grant[hub.Claim], error) {
	a, replayed, err := h.hold(ctx, claimHold(in), (*core.Leases).Refresh)
	return claimGrant(a, replayed), err
}

// ReleaseClaim ends a claim; see hub.Leases.
func (h *Hub) ReleaseClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Outcome[hub.Claim], error) {
	a, replayed, err := h.hold(ctx, claimHold(in), (*core.Leases).Release)
	g := claimGrant(a, replayed)
	return hub.Outcome[hub.Claim]{Row: g.Row, Replayed: replayed}, err
}

// Lock asks for a file lock; see hub.Leases.
func (h *Hub) Lock(ctx context.Context, in hub.LockInput) (hub.Grant[hub.Lock], error) {
	path, err := core.CanonicalPath(in.FilePath)
	if err != nil {
		return hub.Grant[hub.Lock]{}, err
	}
	c := core.AcquireCommand{
		Space: core.SpaceLock, Key: path, Given: in.FilePath, Agent: in.AgentID, TTLSec: in.TTLSec, Metadata: in.Metadata,
	}
	a, replayed, err := h.acquire(ctx, c, in.WaitSec)
	return lockGrant(a, replayed), err
}

// RefreshLock renews a file lock; see hub.Leases.
func (h *Hub) RefreshLock(ctx context.Context, in hub.LockHoldInput) (hub.Grant[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Grant[hub.Lock]{}, err
	}
	a, replayed, err := h.hold(ctx, c, (*core.Leases).Refresh)
	return lockGrant(a, replayed), err
}

// ReleaseLock ends a file lock; see hub.Leases.
func (h *Hub) ReleaseLock(ctx context.Context, in hub.LockHoldInput) (hub.Outcome[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Outcome[hub.Lock]{}, err
	}
	a, replayed, err := h.hold(ctx, c, (*core.Leases).Release)
	return hub.Outcome[hub.Lock]{Row: lockGrant(a, replayed).Row, Replayed: replayed}, err
}

func claimHold(in hub.ClaimHoldInput) core.HoldCommand {
	agent := in.OwnerAgentID
	if agent == "" {
		agent = in.AgentID
	}
	return core.HoldCommand{Space: core.SpaceClaim, Key: string(in.ClaimKey), Agent: agent, TTLSec: in.TTLSec, Fence: in.Fence}
}

func lockHold(in hub.LockHoldInput) (core.HoldCommand, error) {
	path, err := core.CanonicalPath(in.FilePath)
	return core.HoldCommand{Space: core.SpaceLock, Key: path, Agent: in.AgentID, TTLSec: in.TTLSec, Fence: in.Fence}, err
}

func (h *Hub) acquire(ctx context.Context, c core.AcquireCommand, waitSec float64) (core.LeaseAnswer, bool, error) {
	return h.askLease(ctx, core.LeaseKey{Space: c.Space, Key: c.Key}, c.Agent, len(c.Metadata), time.Duration(waitSec*float64(time.Second)),
		func(l *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			return l.Acquire(c, now), nil
		})
}

func (h *Hub) hold(ctx context.Context, c core.HoldCommand, decide func(*core.Leases, core.HoldCommand, core.Now) (core.Decision[core.LeaseAnswer], error)) (core.LeaseAnswer, bool, error) {
	return h.askLease(ctx, core.LeaseKey{Space: c.Space, Key: c.Key}, c.Agent, 0, 0,
		func(l *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) { return decide(l, c, now) })
}

func (h *Hub) askLease(ctx context.Context, k core.LeaseKey, agent hub.AgentID, size int, wait time.Duration, decide func(*core.Leases, core.Now) (core.Decision[core.LeaseAnswer], error)) (answer core.LeaseAnswer, replayed bool, err error) {
	w := engine.Command[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]{
		Owner: core.LeaseOwner(core.LeaseShard(k)), Agent: agent, Size: size, Decide: decide,
		Answer: func(a core.LeaseAnswer, _ *core.Record) core.LeaseAnswer { return a },
		// An answer about one lease rests on that lease alone: who finds it held
		// need not wait for the commits of other keys.
		Rests: func(o *engine.Owner) hub.Seq { return o.Extension.(*leaseQueue).changes[k] },
		Codec: engine.Codec[core.LeaseAnswer]{
			Kind: engine.EffectLease,
			Encode: func(a core.LeaseAnswer) []byte {
				return engine.EncodeEffect(leaseEffect{Created: a.Created})
			},
			Decode: func(_ context.Context, e *core.Effect) (core.LeaseAnswer, error) { return h.currentLease(k, agent, e) },
		},
	}
	a, stored, err := engine.Admit(ctx, h.engine, w)
	switch {
	case err != nil:
		return answer, false, err
	case stored != nil:
		answer, err = w.Codec.Decode(ctx, stored)
		return answer, true, err
	}
	asked := &leaseAsk{Pending: a, key: k, wait: wait, waits: a.Permit.Owner.Extension.(*leaseQueue)}
	a.Permit.Owner.Tell(asked)
	if wait > 0 {
		answer, err = h.waitForLease(ctx, asked)
	} else {
		answer, err = a.Wait()
	}
	return answer, false, err
}

// waitForLease waits for the answer of a command that may be parked, until its
// caller leaves or the session that it proved is displaced.
func (h *Hub) waitForLease(ctx context.Context, asked *leaseAsk) (core.LeaseAnswer, error) {
	caller := hub.CallerOf(ctx)
	var changed chan struct{} // the caller's session; nil: it has proved none
	if caller.Incarnation != 0 {
		sub := h.view.Notifier.Subscribe([]core.Scope{view.SessionScope(caller.Agent)})
		defer sub.Close()
		changed = sub.C
	}
	for {
		if h.view.Displaced(caller) {
			asked.waits.leave(asked, engine.ErrSessionReplaced(caller.Agent))
			return asked.Pending.Wait()
		}
		select {
		case <-changed:
		case r := <-asked.Reply:
			return r.Answer, r.Err
		case <-ctx.Done():
			asked.waits.leave(asked, engine.ErrExpired())
			return core.LeaseAnswer{}, engine.ErrAbandoned()
		}
	}
}

// leaseEffect is what is stored of an answer about a lease. A replay shows the
// row as it is then, and acquired from it.
type leaseEffect struct {
	Created bool `json:"created"`
}

func (h *Hub) currentLease(k core.LeaseKey, agent hub.AgentID, e *core.Effect) (core.LeaseAnswer, error) {
	was, err := engine.DecodeEffect[leaseEffect](e)
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	table := core.TableClaim
	if k.Space == core.SpaceLock {
		table = core.TableLock
	}
	value, err := h.rows.Row(table, []byte(k.Key))
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	lease, err := view.DecodeLease(value)
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	now := h.engine.Clock.Now()
	holds := lease.Ended == nil && lease.Agent == agent && now.HubMS < lease.Deadline
	a := core.LeaseAnswer{Acquired: holds, Created: was.Created && holds}
	if k.Space == core.SpaceLock {
		row := lease.Lock(now)
		a.Lock = &row
	} else {
		row := lease.Claim(now)
		a.Claim = &row
	}
	return a, nil
}

func claimGrant(a core.LeaseAnswer, replayed bool) hub.Grant[hub.Claim] {
	g := hub.Grant[hub.Claim]{Acquired: a.Acquired, Created: a.Created, Replayed: replayed}
	if a.Claim != nil {
		g.Row = *a.Claim
	}
	return g
}

func lockGrant(a core.LeaseAnswer, replayed bool) hub.Grant[hub.Lock] {
	g := hub.Grant[hub.Lock]{Acquired: a.Acquired, Created: a.Created, Replayed: replayed}
	if a.Lock != nil {
		g.Row = *a.Lock
	}
	return g
}
