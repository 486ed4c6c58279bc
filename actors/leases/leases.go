package leases

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Leases implements hub.Leases but for the lists.
type Leases struct {
	view   *view.View
	engine *engine.Engine
	gate   *gate.Gate
	rows   core.Rows
}

// New returns the service of leases. The engine need not run yet.
func New(v *view.View, e *engine.Engine, g *gate.Gate, rows core.Rows) *Leases {
	return &Leases{view: v, engine: e, gate: g, rows: rows}
}

// Claim asks for a claim; see hub.Leases.
func (l *Leases) Claim(ctx context.Context, in hub.ClaimInput) (hub.Grant[hub.Claim], error) {
	if in.ClaimKey == "" {
		in.ClaimKey = core.TaskKey(in.TaskMessageID)
	}
	c := core.AcquireCommand{
		Space: core.SpaceClaim, Key: string(in.ClaimKey), Agent: in.OwnerAgentID, Thread: in.ThreadID,
		TaskMessage: in.TaskMessageID, TTLSec: in.TTLSec, Metadata: in.Metadata,
	}
	a, replayed, err := l.acquire(ctx, "claim", c, in.WaitSec, func() error {
		return l.view.CheckClaimed(view.ViewerOf(ctx, in.OwnerAgentID), &in)
	})
	return claimGrant(a, replayed), err
}

// RefreshClaim renews a claim; see hub.Leases.
func (l *Leases) RefreshClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Grant[hub.Claim], error) {
	a, replayed, err := l.hold(ctx, "refreshClaim", claimHold(in), (*core.Leases).Refresh)
	return claimGrant(a, replayed), err
}

// ReleaseClaim ends a claim; see hub.Leases.
func (l *Leases) ReleaseClaim(ctx context.Context, in hub.ClaimHoldInput) (hub.Outcome[hub.Claim], error) {
	a, replayed, err := l.hold(ctx, "releaseClaim", claimHold(in), (*core.Leases).Release)
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
	a, replayed, err := l.acquire(ctx, "lock", c, in.WaitSec, nil)
	return lockGrant(a, replayed), err
}

// RefreshLock renews a file lock; see hub.Leases.
func (l *Leases) RefreshLock(ctx context.Context, in hub.LockHoldInput) (hub.Grant[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Grant[hub.Lock]{}, err
	}
	a, replayed, err := l.hold(ctx, "refreshLock", c, (*core.Leases).Refresh)
	return lockGrant(a, replayed), err
}

// ReleaseLock ends a file lock; see hub.Leases.
func (l *Leases) ReleaseLock(ctx context.Context, in hub.LockHoldInput) (hub.Outcome[hub.Lock], error) {
	c, err := lockHold(in)
	if err != nil {
		return hub.Outcome[hub.Lock]{}, err
	}
	a, replayed, err := l.hold(ctx, "releaseLock", c, (*core.Leases).Release)
	return hub.Outcome[hub.Lock]{Row: lockGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakClaim takes a claim from its holder; see hub.Leases.
func (l *Leases) BreakClaim(ctx context.Context, in hub.ClaimBreakInput) (hub.Outcome[hub.Claim], error) {
	a, replayed, err := l.breakLease(ctx, "breakClaim", core.BreakCommand{Space: core.SpaceClaim, Key: string(in.ClaimKey), Reason: in.Reason})
	return hub.Outcome[hub.Claim]{Row: claimGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakLock takes a file lock from its holder; see hub.Leases.
func (l *Leases) BreakLock(ctx context.Context, in hub.LockBreakInput) (hub.Outcome[hub.Lock], error) {
	path, err := core.CanonicalPath(in.FilePath)
	if err != nil {
		return hub.Outcome[hub.Lock]{}, err
	}
	a, replayed, err := l.breakLease(ctx, "breakLock", core.BreakCommand{Space: core.SpaceLock, Key: path, Reason: in.Reason})
	return hub.Outcome[hub.Lock]{Row: lockGrant(a, replayed).Row, Replayed: replayed}, err
}

// BreakOf takes a lease from an agent if the agent holds it. Error: not_holder.
func (l *Leases) BreakOf(ctx context.Context, agent hub.AgentID, k core.LeaseKey, reason string) error {
	op := "breakClaim"
	if k.Space == core.SpaceLock {
		op = "breakLock"
	}
	_, _, err := l.breakLease(ctx, op, core.BreakCommand{Space: k.Space, Key: k.Key, Reason: reason, Of: agent})
	return err
}

func (l *Leases) breakLease(ctx context.Context, op string, c core.BreakCommand) (core.LeaseAnswer, bool, error) {
	key := core.LeaseKey{Space: c.Space, Key: c.Key}
	act := gate.Act{Op: op, Agent: hub.AgentOperator}
	return l.submit(ctx, &act, key, len(c.Reason), 0, nil, func(state *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
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

// acquire asks for a lease. An agent that has it renews it, which a pause does not stop.
func (l *Leases) acquire(ctx context.Context, op string, c core.AcquireCommand, waitSec float64, check func() error) (core.LeaseAnswer, bool, error) {
	key := core.LeaseKey{Space: c.Space, Key: c.Key}
	act := gate.Act{Op: op, Agent: c.Agent, Spared: func(state core.Machine) bool {
		l, held := state.(*core.Leases).Get(key)
		return held && l.Agent == c.Agent
	}}
	free, full := l.view.Leases.Shares.Reserve(c.Agent, l.view.Standing(ctx, c.Agent, l.engine.Clock.Now().Wall),
		core.LeaseBytes(c.Key, c.Given, c.Thread, c.Metadata))
	defer free()
	return l.submit(ctx, &act, key, len(c.Metadata), time.Duration(waitSec*float64(time.Second)), check,
		func(state *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			if l, held := state.Get(key); !held || l.Agent != c.Agent {
				if full != nil && (!held || waitSec > 0) { // a call that waits may get it
					return core.Decision[core.LeaseAnswer]{}, full
				}
			}
			return state.Acquire(c, now), nil
		})
}

func (l *Leases) hold(ctx context.Context, op string, c core.HoldCommand, decide func(*core.Leases, core.HoldCommand, core.Now) (core.Decision[core.LeaseAnswer], error)) (core.LeaseAnswer, bool, error) {
	act := gate.Act{Op: op, Agent: c.Agent}
	return l.submit(ctx, &act, core.LeaseKey{Space: c.Space, Key: c.Key}, 0, 0, nil,
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
// the input in bytes, for admission. check looks at what the call names; nil: nothing.
func (l *Leases) submit(ctx context.Context, act *gate.Act, k core.LeaseKey, size int, wait time.Duration, check func() error, decide decision) (answer core.LeaseAnswer, replayed bool, err error) {
	p, answer, replayed, err := gate.Admit(ctx, l.gate, act, l.codec(k, act.Agent), func() (c command, err error) {
		if check != nil {
			err = check()
		}
		return l.command(k, size, decide), err
	})
	if p == nil {
		return answer, replayed, err
	}
	r := newRequest(p, k, wait)
	p.Permit.Owner.Tell(r)
	if wait > 0 {
		answer, err = l.wait(ctx, act, r)
	} else {
		answer, err = p.Wait()
	}
	return answer, false, err
}

type command = engine.Command[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]

func (l *Leases) command(k core.LeaseKey, size int, decide decision) command {
	return command{
		Owner: core.LeaseOwner(core.LeaseShard(k)), Size: size, Decide: decide,
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
	}
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
func (l *Leases) wait(ctx context.Context, act *gate.Act, r *request) (core.LeaseAnswer, error) {
	caller := hub.CallerOf(ctx)
	scopes := []core.Scope{view.PauseScope()}
	if caller.Incarnation != 0 {
		scopes = append(scopes, view.SessionScope(caller.Agent))
	}
	changed := l.view.Notifier.Subscribe(scopes)
	defer changed.Close()
	for {
		if err := l.gate.Ask(ctx, act); err != nil {
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
