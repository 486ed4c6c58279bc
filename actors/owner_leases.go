package actors

import (
	"maps"
	"math"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// leaseQueue is what a lease owner has beside its state: the commands that wait for
// a lease, one timer for the next deadline of either, and the latest change of each
// key. Only the owner's turns touch it.
type leaseQueue struct {
	owner   *engine.Owner
	engine  *engine.Engine
	view    *view.View
	queue   core.LeaseQueue[*leaseAsk]
	changes map[core.LeaseKey]hub.Seq
	left    int // of changes, when they were last gone through
	timer   *time.Timer
	armed   int64 // hub time the timer is set to; 0: not set
	unheard bool  // waiting commands may have to be served: the disk was full
}

// state returns the leases, ready for a decision.
func (t *leaseQueue) state() (*core.Leases, error) {
	state, err := t.owner.Current()
	if err != nil {
		return nil, err
	}
	return state.(*core.Leases), nil
}

// changesKept is how many changes are remembered at least before those are
// dropped that are durable: an answer about such a key has nothing to wait for.
const changesKept = 64

// Note remembers that the record seq changes what these facts name.
func (t *leaseQueue) Note(facts []core.Fact, seq hub.Seq) {
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
		case *core.LeaseExpired:
			t.changes[core.LeaseKey{Space: f.Space, Key: f.Key}] = seq
		}
	}
}

// leaseAsk is a command about one lease. Unlike other commands it may wait in
// the owner's queue for its turn to come.
type leaseAsk struct {
	*engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]
	key    core.LeaseKey
	wait   time.Duration // 0: never waits
	waits  *leaseQueue   // of the key's owner
	unpark func()        // ends the parking; nil while not parked
	place  *core.LeaseWaiter[*leaseAsk]
}

// Run decides the command. What is due at its key expires first, in the same
// record where there is one.
func (a *leaseAsk) Run(o *engine.Owner) {
	if a.Expired() {
		a.Fail(engine.ErrExpired())
		return
	}
	t, now := a.waits, a.Engine.Clock.Now()
	state := o.State.(*core.Leases)
	due := state.Expire(now, t.world(), hub.MaxExpireBatch, a.key)
	if !due.Empty() && t.queue.Front(a.key) != nil {
		_ = t.expire(now, due) // those who wait come first; what fails here fails the command too
		due = core.Draft{}
		var err error
		if state, err = t.state(); err != nil {
			a.Fail(err)
			return
		}
	}
	d, err := a.Decide(state, now)
	switch {
	case err != nil:
		_ = t.expire(now, due)
		a.Refuse(o, err)
	case a.wait > 0 && !a.Engine.Stopping.Load() && d.Empty() && !d.Answer(core.Position{Now: now}).Acquired:
		_ = t.expire(now, due)
		epoch := o.Epoch
		if _, err := t.state(); err != nil {
			a.Fail(err)
			return
		}
		if o.Epoch != epoch { // the holder may be one that was taken back
			a.Run(o)
			return
		}
		t.park(a, now)
	default:
		d = core.AfterExpiry(due, d)
		a.Conclude(o, now, d.Draft, d.Answer)
		t.serveWaiters(now, d.Facts)
	}
	t.arm()
}

// park puts a command into the queue of its key.
func (t *leaseQueue) park(a *leaseAsk, now core.Now) {
	if err := t.view.Directory.ParkAs(a.Agent, false); err != nil {
		a.Fail(err)
		return
	}
	a.unpark = func() {
		t.view.Directory.Touch(a.Agent, t.engine.Clock.Now().Wall)
		t.view.Directory.UnparkAs(a.Agent, false)
	}
	a.ReturnPermit()
	a.place = t.queue.Push(a.key, now.HubMS+a.wait.Milliseconds(), a)
}

// leave takes a command out of the queue, because its caller has gone or may wait no
// longer, so that its idempotency key and its place among the agent's parked calls
// are free.
func (t *leaseQueue) leave(a *leaseAsk, why error) {
	t.owner.Tell(engine.Call{Do: func(*engine.Owner) {
		if a.place != nil && t.queue.Remove(a.place) {
			a.unpark()
			a.Fail(why)
		}
	}, Failed: func(error) {}})
}

// resume decides a command that leaves the queue, as the lease stands now.
func (a *leaseAsk) resume(o *engine.Owner, now core.Now) {
	a.unpark()
	defer o.Caught(a) // it is this caller's panic, not that of whose turn it is
	if a.Ctx.Err() != nil {
		a.Fail(engine.ErrExpired())
		return
	}
	state, err := a.waits.state()
	if err != nil {
		a.Fail(err)
		return
	}
	d, err := a.Decide(state, now)
	if err != nil {
		a.Refuse(o, err)
		return
	}
	a.Conclude(o, now, d.Draft, d.Answer)
}

// expire journals that leases are over and lets those who wait have them. After an
// error they are still held.
func (t *leaseQueue) expire(now core.Now, due core.Draft) error {
	if due.Empty() {
		return nil
	}
	err := t.owner.Commit(now, due, engine.Work{})
	if err == nil {
		t.serveWaiters(now, due.Facts)
	}
	return err
}

// serveWaiters grants what these facts have freed to who has waited longest.
func (t *leaseQueue) serveWaiters(now core.Now, facts []core.Fact) {
	if t.queue.Len() == 0 {
		return
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseReleased:
			t.serveKey(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseExpired:
			t.serveKey(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		}
	}
}

func (t *leaseQueue) serveKey(now core.Now, k core.LeaseKey) {
	for {
		// First: a rebuild serves those who wait, so who is in front may change.
		state, err := t.state()
		if err != nil {
			return
		}
		w := t.queue.Front(k)
		if w == nil {
			return
		}
		holder, held := state.Get(k)
		if held && holder.Agent != w.Value.Agent && w.Value.Ctx.Err() == nil {
			return
		}
		t.queue.Remove(w)
		w.Value.resume(t.owner, now)
	}
}

// Rebuilt serves the commands that wait for what is free and sets the timer anew. On
// a full disk none is granted anything; the timer looks again.
func (t *leaseQueue) Rebuilt() {
	if ok, _ := t.engine.Journal.Room(); !ok {
		t.settleLater()
		return
	}
	t.unheard = false
	now := t.engine.Clock.Now()
	for _, k := range t.queue.Keys() {
		t.serveKey(now, k)
	}
	t.armed = 0
	t.arm()
}

// Reloaded forgets the changes: what is left of them is durable.
func (t *leaseQueue) Reloaded() {
	clear(t.changes)
	t.settleLater()
}

// settleLater has the timer settle the owner in a moment: at once, what was just
// taken back would be decided and taken back again, without end.
func (t *leaseQueue) settleLater() {
	t.unheard = true
	t.armLater(t.engine.Clock.Now())
}

// armLater sets the timer to when the disk may have room again.
func (t *leaseQueue) armLater(now core.Now) { t.armAt(now.HubMS + engine.FrozenRetry.Milliseconds()) }

// Refuse answers every waiting command with an error.
func (t *leaseQueue) Refuse(reason error) {
	for _, w := range t.queue.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.unpark()
		w.Value.Fail(reason)
	}
}

// arm sets the timer to the next deadline.
func (t *leaseQueue) arm() {
	o := t.owner
	if o.Dirty != nil || o.Quarantined != nil {
		return // the rebuild sets it, or nobody
	}
	next, ok := o.State.(*core.Leases).NextDeadline()
	if until, waits := t.queue.NextDeadline(); waits && (!ok || until < next) {
		next, ok = until, true
	}
	if !ok || t.armed != 0 && t.armed <= next {
		return // it fires early at worst, and is set again then
	}
	t.armAt(next)
}

// armAt sets the timer to a moment of hub time.
func (t *leaseQueue) armAt(next int64) {
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

// tickTurn is the turn in which deadlines come. If it fails it comes again: a command
// that waits for a deadline must not wait for the next command.
func (t *leaseQueue) tickTurn() engine.Turn {
	return engine.Call{Do: func(*engine.Owner) { t.tick() }, Failed: func(error) { t.owner.TellLater(t.tickTurn) }}
}

func (t *leaseQueue) tick() {
	t.armed = 0
	now := t.engine.Clock.Now()
	if ok, free := t.engine.Journal.Room(); !ok {
		// A full disk freezes expiry too: nothing ends that cannot be journaled.
		// A command that has waited enough is told why it was not granted.
		for _, w := range t.queue.TimedOut(now) {
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
		due := state.Expire(now, t.world(), hub.MaxExpireBatch)
		if due.Empty() {
			break
		}
		failed := t.expire(now, due)
		if state, err = t.state(); err == nil && (failed != nil || t.owner.Epoch != epoch) {
			t.armLater(now) // it may have been taken back: look for room first
			return
		}
	}
	if err != nil {
		t.owner.TellLater(t.tickTurn)
		return
	}
	for _, w := range t.queue.TimedOut(now) {
		w.Value.resume(t.owner, now)
	}
	t.arm()
}

// Begin gives a lease that is nearly over a moment more, so that its holder can find
// the hub again and renew it.
func (t *leaseQueue) Begin() {
	now := t.engine.Clock.Now()
	state, err := t.state()
	for epoch := t.owner.Epoch; err == nil && t.owner.Epoch == epoch; { // what was taken back once is not tried again
		d := state.Graced(now, hub.MaxExpireBatch)
		if d.Empty() || t.owner.Commit(now, d, engine.Work{}) != nil {
			break
		}
		state, err = t.state()
	}
	t.arm()
}

// End answers every waiting command: the hub stops.
func (t *leaseQueue) End() {
	if t.timer != nil {
		t.timer.Stop()
	}
	now := t.engine.Clock.Now()
	for _, w := range t.queue.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.resume(t.owner, now)
	}
}

// world is what deciding an expiry needs to know of others.
func (t *leaseQueue) world() core.LeaseWorld { return leaseWorld{t.view} }

type leaseWorld struct{ view *view.View }

// Away reports whether the agent has no live session.
func (w leaseWorld) Away(agent hub.AgentID) bool { return !w.view.Live(agent) }

// ThreadChannel returns the channel of a thread's public messages, or "".
func (w leaseWorld) ThreadChannel(thread hub.ThreadID) hub.ChannelName {
	return w.view.ThreadChannel(thread)
}
