package leases

import (
	"maps"
	"math"
	"slices"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// queue is what a lease owner has in addition to its state: the requests that
// wait for a lease, one timer for the next deadline of a lease or a request,
// and the latest change of each key. Only the owner's turns touch it.
type queue struct {
	owner   *engine.Owner
	engine  *engine.Engine
	view    *view.View
	waiting core.LeaseQueue[*request]
	changes map[core.LeaseKey]hub.Seq
	left    int // number of changes after the last cleanup
	timer   *time.Timer
	armed   int64 // hub time for which the timer is set; 0: not set
	unheard bool  // the disk was full, so waiting commands may have to be served
}

// NewQueue returns the queue of an owner of leases.
func NewQueue(o *engine.Owner, e *engine.Engine, v *view.View) engine.Extension {
	return &queue{owner: o, engine: e, view: v}
}

// state returns the leases, ready for a decision.
func (t *queue) state() (*core.Leases, error) {
	state, err := t.owner.Current()
	if err != nil {
		return nil, err
	}
	return state.(*core.Leases), nil
}

// changesKept is the least number of changes above which the durable ones are
// dropped. An answer need not wait for a durable change.
const changesKept = 64

// Note remembers that the record seq changes the leases of these facts.
func (t *queue) Note(facts []core.Fact, seq hub.Seq) {
	if len(t.changes) > max(changesKept, t.left*2) {
		done := t.engine.Seq.DurableSeq()
		maps.DeleteFunc(t.changes, func(_ core.LeaseKey, s hub.Seq) bool { return s <= done })
		t.left = len(t.changes)
	}
	if t.changes == nil {
		t.changes = map[core.LeaseKey]hub.Seq{}
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseGranted:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		case *core.LeaseRenewed:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		case *core.LeaseGraced:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		case *core.LeaseReleased:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		case *core.LeaseBroken:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		case *core.LeaseExpired:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		}
	}
}

// park puts a command into the queue of its key. It does not where agents would then wait for
// each other for ever, and returns those. holders have the leases that keep the agent from it.
func (t *queue) park(r *request, now core.Now, holders []hub.AgentID) (circle []hub.AgentID) {
	call, err := t.view.Directory.Park(hub.CallerOf(r.Ctx), r.Agent, hub.ParkedLease)
	if err != nil {
		r.Fail(err)
		return nil
	}
	waiter := t.view.Waiters.Arrive(r.key, r.Agent, now.Wall)
	if circle = t.view.CircleOf(r.Agent, holders, now.Wall); circle != nil {
		t.view.Waiters.Leave(waiter)
		t.view.Directory.Unpark(call)
		return circle
	}
	r.unpark = func() {
		t.view.Waiters.Leave(waiter)
		t.view.Directory.Touch(r.Agent, t.engine.Clock.Now().Wall)
		t.view.Directory.Unpark(call)
	}
	r.ReturnPermit()
	r.place = t.waiting.Push(r.key, now.HubMS+r.wait.Milliseconds(), r)
	return nil
}

// leave takes a request out of the queue, because its caller has gone or may
// wait no longer. This frees its idempotency key and its place among the
// agent's parked calls.
func (t *queue) leave(r *request, why error) {
	t.owner.Tell(engine.Call{Do: func(*engine.Owner) {
		if r.place != nil && t.waiting.Remove(r.place) {
			r.unpark()
			r.Fail(why)
		}
	}, Failed: func(error) {}})
}

// expire journals the end of leases and serves the requests that wait for them.
// After an error the leases are still held.
func (t *queue) expire(now core.Now, due core.Draft) error {
	if due.Empty() {
		return nil
	}
	err := t.owner.Commit(now, due, engine.Work{})
	if err == nil {
		t.serveWaiters(now, due.Facts)
	}
	return err
}

// serveWaiters grants the keys that these facts have freed, each to the request that
// has waited longest.
func (t *queue) serveWaiters(now core.Now, facts []core.Fact) {
	if t.waiting.Len() == 0 {
		return
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseReleased:
			t.serveFreed(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseBroken:
			t.serveFreed(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseExpired:
			t.serveFreed(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		}
	}
}

// serveFreed serves the requests that wait for a key that is free now, or for one that it overlaps.
func (t *queue) serveFreed(now core.Now, k core.LeaseKey) {
	for _, waiting := range t.waitingFor(k) {
		t.serveKey(now, waiting)
	}
}

// waitingFor returns the keys that requests wait for and that a lease of k keeps from them, those
// of the request that has waited longest first.
func (t *queue) waitingFor(k core.LeaseKey) []core.LeaseKey {
	return slices.DeleteFunc(t.waiting.Keys(), func(w core.LeaseKey) bool { return !w.Overlap(k) })
}

// serveKey answers the requests for a key that nothing keeps from it any more, those that have waited
// longest first: of a key that nobody holds the first one, of one that an agent holds its own. A
// request whose caller has gone is dropped.
func (t *queue) serveKey(now core.Now, k core.LeaseKey) {
	for {
		// Load the state first: a rebuild serves requests, so that another one
		// is in front after it.
		state, err := t.state()
		if err != nil {
			return
		}
		w := t.waiting.Find(k, func(r *request) bool {
			return r.Ctx.Err() != nil || len(state.Blockers(k, r.Agent)) == 0
		})
		if w == nil {
			return
		}
		t.waiting.Remove(w)
		w.Value.resume(t.owner, now, state)
		if t.view.Waits(w.Value.Agent, now.Wall) {
			t.endCircles(now, k)
		}
	}
}

// endCircles answers the requests that would wait for ever because the lease of k has just been granted
// to an agent that waits for them with another call. park looks for circles when a request arrives, and
// this does when the owner of what it waits for changes.
func (t *queue) endCircles(now core.Now, k core.LeaseKey) {
	for _, waiting := range t.waitingFor(k) {
		for {
			state, err := t.state()
			if err != nil {
				return
			}
			var circle []hub.AgentID
			w := t.waiting.Find(waiting, func(r *request) bool {
				circle = t.view.CircleOf(r.Agent, state.Blockers(waiting, r.Agent), now.Wall)
				return circle != nil
			})
			if w == nil {
				break
			}
			t.waiting.Remove(w)
			w.Value.circle = circle
			w.Value.resume(t.owner, now, state)
		}
	}
}

// Rebuilt serves the requests that wait for a free key and sets the timer
// again. On a full disk it grants nothing, and the timer tries again later.
func (t *queue) Rebuilt() {
	if ok, _ := t.engine.Journal.Room(); !ok {
		t.settleLater()
		return
	}
	t.unheard = false
	now := t.engine.Clock.Now()
	for _, k := range t.waiting.Keys() {
		t.serveKey(now, k)
	}
	t.armed = 0
	t.arm()
}

// Reloaded forgets the changes: those that were not taken back are durable.
func (t *queue) Reloaded() {
	clear(t.changes)
	t.settleLater()
}

// settleLater lets the timer serve the requests a moment later. Served at once,
// they would lead to the same decisions, which would be taken back again,
// without end.
func (t *queue) settleLater() {
	t.unheard = true
	t.armLater(t.engine.Clock.Now())
}

// armLater sets the timer to the next look for room on the disk.
func (t *queue) armLater(now core.Now) { t.armAt(now.HubMS + engine.FrozenRetry.Milliseconds()) }

// Refuse answers every waiting command with an error.
func (t *queue) Refuse(reason error) {
	for _, w := range t.waiting.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.unpark()
		w.Value.Fail(reason)
	}
}

// arm sets the timer to the next deadline.
func (t *queue) arm() {
	o := t.owner
	if o.Dirty != nil || o.Quarantined != nil {
		return // a rebuild sets the timer; in quarantine it stays unset
	}
	next, ok := o.State.(*core.Leases).NextDeadline()
	if until, waits := t.waiting.NextDeadline(); waits && (!ok || until < next) {
		next, ok = until, true
	}
	if !ok || t.armed != 0 && t.armed <= next {
		return // the timer fires in time or early, and is then set again
	}
	t.armAt(next)
}

// armAt sets the timer to a moment of hub time.
func (t *queue) armAt(next int64) {
	t.armed = next
	d := t.engine.Clock.Until(next)
	if t.timer == nil {
		t.timer = time.AfterFunc(d, func() {
			if !t.engine.Stopping.Load() {
				t.owner.Tell(t.tickTurn())
			}
		})
		return
	}
	t.timer.Reset(d)
}

// tickTurn is the turn that handles deadlines. If it fails, it is repeated: a
// command that waits for a deadline must not depend on a later command.
func (t *queue) tickTurn() engine.Turn {
	return engine.Call{Do: func(*engine.Owner) { t.tick() }, Failed: func(error) { t.owner.TellLater(t.tickTurn) }}
}

func (t *queue) tick() {
	t.armed = 0
	now := t.engine.Clock.Now()
	if ok, free := t.engine.Journal.Room(); !ok {
		// On a full disk no lease expires, because its end cannot be journaled.
		// A command whose wait is over is told why it got no lease.
		for _, w := range t.waiting.TimedOut(now) {
			w.Value.unpark()
			w.Value.Fail(engine.ErrStorageFull(free))
		}
		t.armLater(now)
		return
	}
	if t.unheard {
		t.Rebuilt()
	}
	state, err := t.state()
	for epoch := t.owner.Epoch; err == nil; {
		due := state.Expire(now, world{t.view}, hub.MaxExpireBatch)
		if due.Empty() {
			break
		}
		failed := t.expire(now, due)
		if state, err = t.state(); err == nil && (failed != nil || t.owner.Epoch != epoch) {
			t.armLater(now) // the expiry may have been taken back: look for room first
			return
		}
	}
	if err != nil {
		t.owner.TellLater(t.tickTurn)
		return
	}
	for _, w := range t.waiting.TimedOut(now) {
		w.Value.conclude(t.owner, now)
	}
	t.arm()
}

// Begin prolongs the leases that are nearly over, so that their holders can
// find the hub again and renew them.
func (t *queue) Begin() {
	now := t.engine.Clock.Now()
	state, err := t.state()
	for epoch := t.owner.Epoch; err == nil && t.owner.Epoch == epoch; { // a decision that was taken back is not repeated
		d := state.Graced(now, hub.MaxExpireBatch)
		if d.Empty() || t.owner.Commit(now, d, engine.Work{}) != nil {
			break
		}
		state, err = t.state()
	}
	t.arm()
}

// End answers every waiting command when the hub stops.
func (t *queue) End() {
	if t.timer != nil {
		t.timer.Stop()
	}
	now := t.engine.Clock.Now()
	for _, w := range t.waiting.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.conclude(t.owner, now)
	}
}

// world tells a decision about an expiry what the state of the leases does not
// hold.
type world struct{ view *view.View }

// Away reports whether the agent has no live session.
func (w world) Away(agent hub.AgentID) bool { return !w.view.Live(agent) }

// ThreadChannel returns the channel of a thread's public messages, or "".
func (w world) ThreadChannel(thread hub.ThreadID) hub.ChannelName {
	return w.view.ThreadChannel(thread)
}

// Hidden returns the agent that has given a task by a direct message. A task that cannot
// be read counts as one that everybody may see: there is nobody to tell then.
func (w world) Hidden(task hub.TaskID) hub.AgentID {
	if task == 0 {
		return ""
	}
	t, err := w.view.AnyTask(task)
	if err != nil || !t.Direct {
		return ""
	}
	return t.Task.CreatedBy
}

type pending = engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]

// request is a command about one lease. Unlike other commands, it may wait in
// the owner's queue until the lease is free.
type request struct {
	*pending
	key    core.LeaseKey
	wait   time.Duration // 0: never waits
	queue  *queue        // of the key's owner
	unpark func()        // ends the parking; nil while not parked
	place  *core.LeaseWaiter[*request]
	circle []hub.AgentID // that would wait for each other if this request went on waiting; nil: none
}

// conclude decides a request whose wait is over, with the lease as it is now.
func (r *request) conclude(o *engine.Owner, now core.Now) {
	state, err := r.queue.state()
	if err != nil {
		r.unpark()
		r.Fail(err)
		return
	}
	r.resume(o, now, state)
}

// resume decides a request that has left the queue. A request that leaves it because its
// lease is free is decided with the very state in which the lease is free. With a later
// one, from which the release was taken back, it would be answered long before its time.
// If the state is too old by now, the commit refuses the decision.
func (r *request) resume(o *engine.Owner, now core.Now, state *core.Leases) {
	r.unpark()
	defer o.Caught(r) // a panic fails this request, not the command whose turn runs
	if r.Ctx.Err() != nil {
		r.Fail(engine.ErrExpired())
		return
	}
	d, err := r.Decide(state, now)
	if err != nil {
		r.Refuse(o, err)
		return
	}
	r.Conclude(o, now, d.Draft, r.answer(d))
}

// answer returns how the request is answered: as decided, and with the circle that ends its wait.
func (r *request) answer(d core.Decision[core.LeaseAnswer]) func(core.Position) core.LeaseAnswer {
	return func(at core.Position) core.LeaseAnswer {
		a := d.Answer(at)
		a.Circle = r.circle
		return a
	}
}
