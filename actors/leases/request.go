package leases

import (
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

func newRequest(p *pending, k core.LeaseKey, wait time.Duration) *request {
	return &request{pending: p, key: k, wait: wait, queue: p.Permit.Owner.Extension.(*queue)}
}

// Turn returns the turn in which the owner decides an admitted command about a lease.
func Turn(p *engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer], k core.LeaseKey, wait time.Duration) engine.Turn {
	return newRequest(p, k, wait)
}

// Run decides the request. A lease that is over, of its key or one that overlaps it, expires first, in the same
// record if the decision makes one.
func (r *request) Run(o *engine.Owner) {
	if r.Expired() {
		r.Fail(engine.ErrExpired())
		return
	}
	t, now := r.queue, r.Engine.Clock.Now()
	state := o.State.(*core.Leases)
	var due core.Draft
	if state.Due(now) {
		due = state.Expire(now, world{t.view}, hub.MaxExpireBatch, state.Overlapping(r.key)...)
	}
	if !due.Empty() && len(t.waitingFor(r.key)) > 0 {
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
		if state, err = t.state(); err != nil {
			r.Fail(err)
			return
		}
		if o.Epoch != epoch { // the holder may be one that was taken back
			r.Run(o)
			return
		}
		if r.circle = t.park(r, now, state.Blockers(r.key, r.Agent)); r.circle != nil {
			r.Conclude(o, now, d.Draft, r.answer(d))
		}
	default:
		d = core.AfterExpiry(due, d)
		r.Conclude(o, now, d.Draft, d.Answer)
		t.serveWaiters(now, d.Facts)
	}
	t.arm()
}

// decision decides about one lease.
type decision = func(*core.Leases, core.Now) (core.Decision[core.LeaseAnswer], error)
