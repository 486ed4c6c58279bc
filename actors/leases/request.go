package leases

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

type pending = engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]

// request is a command about one lease. Unlike other commands it may wait in the
// owner's queue for its turn to come.
type request struct {
	*pending
	key    core.LeaseKey
	wait   time.Duration // 0: never waits
	queue  *queue        // of the key's owner
	unpark func()        // ends the parking; nil while not parked
	place  *core.LeaseWaiter[*request]
}

func newRequest(p *pending, k core.LeaseKey, wait time.Duration) *request {
	return &request{pending: p, key: k, wait: wait, queue: p.Permit.Owner.Extension.(*queue)}
}

// Turn returns the turn in which the owner decides an admitted command about a lease.
func Turn(p *engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer], k core.LeaseKey, wait time.Duration) engine.Turn {
	return newRequest(p, k, wait)
}

// Run decides the request. A lease of its key that is over expires first, in the same
// record if the decision makes one.
func (r *request) Run(o *engine.Owner) {
	if r.Expired() {
		r.Fail(engine.ErrExpired())
		return
	}
	t, now := r.queue, r.Engine.Clock.Now()
	state := o.State.(*core.Leases)
	due := state.Expire(now, world{t.view}, hub.MaxExpireBatch, r.key)
	if !due.Empty() && t.waiting.Front(r.key) != nil {
		_ = t.expire(now, due) // the queue comes first; an error here fails this request too
		due = core.Draft{}
		var err error
		if state, err = t.state(); err != nil {
			r.Fail(err)
			return
		}
	}
	d, err := r.Decide(state, now)
	switch {
	case err != nil:
		_ = t.expire(now, due)
		r.Refuse(o, err)
	case r.wait > 0 && !r.Engine.Stopping.Load() && d.Empty() && !d.Answer(core.Position{Now: now}).Acquired:
		_ = t.expire(now, due)
		epoch := o.Epoch
		if _, err := t.state(); err != nil {
			r.Fail(err)
			return
		}
		if o.Epoch != epoch { // the holder may be one that was taken back
			r.Run(o)
			return
		}
		t.park(r, now)
	default:
		d = core.AfterExpiry(due, d)
		r.Conclude(o, now, d.Draft, d.Answer)
		t.serveWaiters(now, d.Facts)
	}
	t.arm()
}

// resume decides a request that leaves the queue, as the lease stands now.
func (r *request) resume(o *engine.Owner, now core.Now) {
	r.unpark()
	defer o.Caught(r) // the panic is this caller's, not that of the caller whose turn it is
	if r.Ctx.Err() != nil {
		r.Fail(engine.ErrExpired())
		return
	}
	state, err := r.queue.state()
	if err != nil {
		r.Fail(err)
		return
	}
	d, err := r.Decide(state, now)
	if err != nil {
		r.Refuse(o, err)
		return
	}
	r.Conclude(o, now, d.Draft, d.Answer)
}

// decision decides about one lease.
type decision = func(*core.Leases, core.Now) (core.Decision[core.LeaseAnswer], error)

// submit has the owner of a key decide and returns the answer. If the key is not
// granted, the call first waits for it as long as wait says. size is the bytes of the
// input, for admission.
func (l *Leases) submit(ctx context.Context, k core.LeaseKey, agent hub.AgentID, size int, wait time.Duration, decide decision) (answer core.LeaseAnswer, replayed bool, err error) {
	w := engine.Command[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]{
		Owner: core.LeaseOwner(core.LeaseShard(k)), Agent: agent, Size: size, Decide: decide,
		Answer: func(a core.LeaseAnswer, _ *core.Record) core.LeaseAnswer { return a },
		// An answer about one lease rests on that lease alone: a caller that finds it
		// held need not wait for the commits of other keys.
		Rests: func(o *engine.Owner) hub.Seq { return o.Extension.(*queue).changes[k] },
		Codec: engine.Codec[core.LeaseAnswer]{
			Kind: engine.EffectLease,
			Encode: func(a core.LeaseAnswer) []byte {
				return engine.EncodeEffect(effect{Created: a.Created})
			},
			Decode: func(_ context.Context, e *core.Effect) (core.LeaseAnswer, error) { return l.current(k, agent, e) },
		},
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

// wait waits for the answer of a request that may be parked, until its caller leaves
// or the session that the caller proved is displaced.
func (l *Leases) wait(ctx context.Context, r *request) (core.LeaseAnswer, error) {
	caller := hub.CallerOf(ctx)
	var changed chan struct{} // the caller's session; nil: it has proved none
	if caller.Incarnation != 0 {
		sub := l.view.Notifier.Subscribe([]core.Scope{view.SessionScope(caller.Agent)})
		defer sub.Close()
		changed = sub.C
	}
	for {
		if l.view.Displaced(caller) {
			r.queue.leave(r, engine.ErrSessionReplaced(caller.Agent))
			return r.Wait()
		}
		select {
		case <-changed:
		case reply := <-r.Reply:
			return reply.Answer, reply.Err
		case <-ctx.Done():
			r.queue.leave(r, engine.ErrExpired())
			return core.LeaseAnswer{}, engine.ErrAbandoned()
		}
	}
}

// effect is what is stored of an answer about a lease. A replay reads the row as it
// is then, and derives acquired from it.
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
