package leases

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Leases implements hub.Leases but for the lists.
type Leases struct {
	view   *view.View
	engine *engine.Engine
	rows   core.Rows
}

// New returns the service of leases. The engine need not run yet.
func New(v *view.View, e *engine.Engine, rows core.Rows) *Leases {
	return &Leases{view: v, engine: e, rows: rows}
}

// Claim asks for a claim; see hub.Leases.
func (l *Leases) Claim(ctx context.Context, in hub.ClaimInput) (hub.Grant[hub.Claim], error) {
	if in.ClaimKey == "" {
		in.ClaimKey = core.TaskKey(in.TaskMessageID)
	}
	if refusal := l.view.CheckClaimed(view.ViewerOf(ctx, in.OwnerAgentID), &in); refusal != nil {
		k := core.LeaseKey{Space: core.SpaceClaim, Key: string(in.ClaimKey)}
		a, err := engine.Repeated(ctx, l.engine, in.OwnerAgentID, l.codec(k, in.OwnerAgentID), refusal)
		return claimGrant(a, err == nil), err
	}
	c := core.AcquireCommand{
		Space: core.SpaceClaim, Key: string(in.ClaimKey), Agent: in.OwnerAgentID, Thread: in.ThreadID,
		TaskMessage: in.TaskMessageID, TTLSec: in.TTLSec, Metadata: in.Metadata,
	}
	a, replayed, err := l.acquire(ctx, c, in.WaitSec)
	return claimGrant(a, replayed), err
}

// RefreshClaim renews a claim; see hub.Leases.
func (l *Leases) RefreshClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Grant[hub.Claim], error) {
	a, replayed, err := l.hold(ctx, claimHold(in), (*core.Leases).Refresh)
	return claimGrant(a, replayed), err
}

// ReleaseClaim ends a claim; see hub.Leases.
func (l *Leases) ReleaseClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Outcome[hub.Claim], error) {
	a, replayed, err := l.hold(ctx, claimHold(in), (*core.Leases).Release)
	g := claimGrant(a, replayed)
	return hub.Outcome[hub.Claim]{Row: g.Row, Replayed: replayed}, err
}

// Lock asks for a file lock; see hub.Leases.
func (l *Leases) Lock(ctx context.Context, in hub.LockInput) (hub.Grant[hub.Lock], error) {
	path, err := core.CanonicalPath(in.FilePath)
	if err != nil {
		return hub.Grant[hub.Lock]{}, err
	}
	c := core.AcquireCommand{
		Space: core.SpaceLock, Key: path, Given: in.FilePath, Agent: in.AgentID, TTLSec: in.TTLSec, Metadata: in.Metadata,
	}
	a, replayed, err := l.acquire(ctx, c, in.WaitSec)
	return lockGrant(a, replayed), err
}

// RefreshLock renews a file lock; see hub.Leases.
func (l *Leases) RefreshLock(ctx context.Context, in hub.LockHoldInput) (hub.Grant[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Grant[hub.Lock]{}, err
	}
	a, replayed, err := l.hold(ctx, c, (*core.Leases).Refresh)
	return lockGrant(a, replayed), err
}

// ReleaseLock ends a file lock; see hub.Leases.
func (l *Leases) ReleaseLock(ctx context.Context, in hub.LockHoldInput) (hub.Outcome[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Outcome[hub.Lock]{}, err
	}
	a, replayed, err := l.hold(ctx, c, (*core.Leases).Release)
	return hub.Outcome[hub.Lock]{Row: lockGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakClaim takes a claim from its holder; see hub.Leases.
func (l *Leases) BreakClaim(ctx context.Context, in hub.ClaimBreakInput) (hub.Outcome[hub.Claim], error) {
	a, replayed, err := l.breakLease(ctx, core.BreakCommand{Space: core.SpaceClaim, Key: string(in.ClaimKey), Reason: in.Reason})
	return hub.Outcome[hub.Claim]{Row: claimGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakLock takes a file lock from its holder; see hub.Leases.
func (l *Leases) BreakLock(ctx context.Context, in hub.LockBreakInput) (hub.Outcome[hub.Lock], error) {
	path, err := core.CanonicalPath(in.FilePath)
	if err != nil {
		return hub.Outcome[hub.Lock]{}, err
	}
	a, replayed, err := l.breakLease(ctx, core.BreakCommand{Space: core.SpaceLock, Key: path, Reason: in.Reason})
	return hub.Outcome[hub.Lock]{Row: lockGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakOf takes a lease from an agent if the agent holds it. Error: not_holder.
func (l *Leases) BreakOf(ctx context.Context, agent hub.AgentID, k core.LeaseKey, reason string) error {
	_, _, err := l.breakLease(ctx, core.BreakCommand{Space: k.Space, Key: k.Key, Reason: reason, Of: agent})
	return err
}

func (l *Leases) breakLease(ctx context.Context, c core.BreakCommand) (core.LeaseAnswer, bool, error) {
	key := core.LeaseKey{Space: c.Space, Key: c.Key}
	return l.submit(ctx, key, hub.AgentOperator, len(c.Reason), 0, func(state *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
		c.Waiting = nil
		for _, waiter := range l.view.Waiters.Of(key, "") {
			c.Waiting = append(c.Waiting, waiter.AgentID)
		}
		return state.Break(c, now)
	})
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

func (l *Leases) acquire(ctx context.Context, c core.AcquireCommand, waitSec float64) (core.LeaseAnswer, bool, error) {
	caller := hub.CallerOf(ctx)
	refuse := func() error { return l.view.RefusePaused(caller, c.Agent, "") }
	free, full := l.view.Leases.Shares.Reserve(c.Agent, l.view.Standing(ctx, c.Agent, l.engine.Clock.Now().Wall),
		core.LeaseBytes(c.Key, c.Given, c.Thread, c.Metadata))
	defer free()
	return l.submit(ctx, core.LeaseKey{Space: c.Space, Key: c.Key}, c.Agent, len(c.Metadata), time.Duration(waitSec*float64(time.Second)),
		func(state *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			// An agent that has the lease renews it, which a pause does not stop.
			if l, held := state.Get(core.LeaseKey{Space: c.Space, Key: c.Key}); !held || l.Agent != c.Agent {
				if err := refuse(); err != nil {
					return core.Decision[core.LeaseAnswer]{}, err
				}
				if full != nil && (!held || waitSec > 0) { // a call that waits may get it
					return core.Decision[core.LeaseAnswer]{}, full
				}
			}
			return state.Acquire(c, now), nil
		})
}

func (l *Leases) hold(ctx context.Context, c core.HoldCommand, decide func(*core.Leases, core.HoldCommand, core.Now) (core.Decision[core.LeaseAnswer], error)) (core.LeaseAnswer, bool, error) {
	return l.submit(ctx, core.LeaseKey{Space: c.Space, Key: c.Key}, c.Agent, 0, 0,
		func(state *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			return decide(state, c, now)
		})
}

func claimGrant(a core.LeaseAnswer, replayed bool) hub.Grant[hub.Claim] {
	g := hub.Grant[hub.Claim]{Acquired: a.Acquired, Created: a.Created, Replayed: replayed, Circle: a.Circle}
	if a.Claim != nil {
		g.Row = *a.Claim
	}
	return g
}

func lockGrant(a core.LeaseAnswer, replayed bool) hub.Grant[hub.Lock] {
	g := hub.Grant[hub.Lock]{Acquired: a.Acquired, Created: a.Created, Replayed: replayed, Circle: a.Circle}
	if a.Lock != nil {
		g.Row = *a.Lock
	}
	return g
}

// submit has the owner of a key decide and returns the answer. If the key is
// not granted, the call waits for it, at most for wait. size is the length of
// the input in bytes, for admission.
func (l *Leases) submit(ctx context.Context, k core.LeaseKey, agent hub.AgentID, size int, wait time.Duration, decide decision) (answer core.LeaseAnswer, replayed bool, err error) {
	w := engine.Command[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]{
		Owner: core.LeaseOwner(core.LeaseShard(k)), Agent: agent, Size: size, Decide: decide,
		Answer: func(a core.LeaseAnswer, _ *core.Record) core.LeaseAnswer { return a },
		// An answer about one lease rests on that lease alone, and on those that overlap it: a
		// caller that finds it held need not wait for the commits of other keys.
		Rests: func(o *engine.Owner) (last hub.Seq) {
			if k.Space != core.SpaceLock {
				return o.Extension.(*queue).changes[k]
			}
			for other, seq := range o.Extension.(*queue).changes {
				if k.Overlap(other) {
					last = max(last, seq)
				}
			}
			return last
		},
		Codec: l.codec(k, agent),
	}
	a, stored, err := engine.Admit(ctx, l.engine, w)
	switch {
	case err != nil:
		return answer, false, err
	case stored != nil:
		answer, err = w.Codec.Decode(ctx, stored)
		return answer, true, err
	}
	r := newRequest(a, k, wait)
	a.Permit.Owner.Tell(r)
	if wait > 0 {
		answer, err = l.wait(ctx, r)
	} else {
		answer, err = a.Wait()
	}
	return answer, false, err
}

// codec keeps what a call by agent about a lease is answered. A repetition is answered with the row
// as it is then.
func (l *Leases) codec(k core.LeaseKey, agent hub.AgentID) engine.Codec[core.LeaseAnswer] {
	return engine.Codec[core.LeaseAnswer]{
		Kind:   engine.EffectLease,
		Encode: func(a core.LeaseAnswer) []byte { return engine.EncodeEffect(effect{Created: a.Created}) },
		Decode: func(_ context.Context, e *core.Effect) (core.LeaseAnswer, error) { return l.current(k, agent, e) },
	}
}

// wait waits for the answer of a request that may be parked, until its caller leaves,
// the session that the caller proved is displaced, or a pause stops the agent.
func (l *Leases) wait(ctx context.Context, r *request) (core.LeaseAnswer, error) {
	caller := hub.CallerOf(ctx)
	scopes := []core.Scope{view.PauseScope()}
	if caller.Incarnation != 0 {
		scopes = append(scopes, view.SessionScope(caller.Agent))
	}
	changed := l.view.Notifier.Subscribe(scopes)
	defer changed.Close()
	for {
		if err := l.view.RefusePaused(caller, r.Agent, ""); err != nil {
			r.queue.leave(r, err)
			return r.Wait()
		}
		if l.view.Displaced(caller) {
			r.queue.leave(r, engine.ErrSessionReplaced(caller.Agent))
			return r.Wait()
		}
		select {
		case <-changed.C:
		case reply := <-r.Reply:
			return reply.Answer, reply.Err
		case <-ctx.Done():
			r.queue.leave(r, engine.ErrExpired())
			return core.LeaseAnswer{}, engine.ErrAbandoned()
		}
	}
}

// effect is the stored part of an answer about a lease. A replay reads the row
// as it is at that time, and derives acquired from it.
type effect struct {
	Created bool `json:"created"`
}

// current answers a replayed call.
func (l *Leases) current(k core.LeaseKey, agent hub.AgentID, e *core.Effect) (core.LeaseAnswer, error) {
	was, err := engine.DecodeEffect[effect](e)
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	table := core.TableClaim
	if k.Space == core.SpaceLock {
		table = core.TableLock
	}
	value, err := l.rows.Row(table, []byte(k.Key))
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	lease, err := view.DecodeLease(value)
	if err != nil {
		return core.LeaseAnswer{}, err
	}
	now := l.engine.Clock.Now()
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
