package actors

import (
	"maps"
	"math"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// leaseTimer is what a lease owner has beside its state: who waits for a lease,
// one timer for the next deadline of either, and the latest change of each key.
// Only the owner's turns touch it.
type leaseTimer struct {
	queue   core.LeaseQueue[*leaseAsk]
	changes map[core.LeaseKey]hub.Seq
	left    int // of changes, when they were last gone through
	timer   *time.Timer
	armed   int64 // hub time the timer is set to; 0: not set
	unheard bool  // those who wait may have to be served: the disk was full
}

// changesKept is how many changes are remembered at least before those are
// dropped that are durable: an answer about such a key has nothing to wait for.
const changesKept = 64

// note remembers that the record seq changes what these facts name.
func (t *leaseTimer) note(facts []core.Fact, seq hub.Seq, durable func() hub.Seq) {
	if len(t.changes) > max(changesKept, t.left*2) {
		done := durable()
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
	*ask[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]
	key    core.LeaseKey
	wait   time.Duration // 0: never waits
	unpark func()        // ends the parking; nil while not parked
	place  *core.LeaseWaiter[*leaseAsk]
}

// run decides the command. What is due at its key expires first, in the same
// record where there is one.
func (a *leaseAsk) run(o *owner) {
	if a.expired() {
		a.fail(errExpired())
		return
	}
	h, state, now := o.hub, o.state.(*core.Leases), o.hub.clock.now()
	due := state.Expire(now, h.world(), hub.MaxExpireBatch, a.key)
	if !due.Empty() && o.leases.queue.Front(a.key) != nil {
		_ = o.expire(now, due) // those who wait come first; what fails here fails the command too
		due = core.Draft{}
		if err := o.prepare(); err != nil {
			a.fail(err)
			return
		}
		state = o.state.(*core.Leases)
	}
	d, err := a.decide(state, now)
	switch {
	case err != nil:
		_ = o.expire(now, due)
		a.refuse(o, err)
	case a.wait > 0 && !h.stopping.Load() && d.Empty() && !d.Answer(core.Position{Now: now}).Acquired:
		_ = o.expire(now, due)
		epoch := o.epoch
		if err := o.prepare(); err != nil {
			a.fail(err)
			return
		}
		if o.epoch != epoch { // the holder may be one that was taken back
			a.run(o)
			return
		}
		a.park(o, now)
	default:
		d = core.AfterExpiry(due, d)
		a.conclude(o, now, d.Draft, d.Answer)
		o.serveWaiters(now, d.Facts)
	}
	o.arm()
}

// park puts the command into the queue of its key.
func (a *leaseAsk) park(o *owner, now core.Now) {
	h := o.hub
	if err := h.view.Directory.ParkAs(a.agent, false); err != nil {
		a.fail(err)
		return
	}
	a.unpark = func() {
		h.view.Directory.Touch(a.agent, h.clock.now().Wall)
		h.view.Directory.UnparkAs(a.agent, false)
	}
	a.returnPermit()
	a.place = o.leases.queue.Push(a.key, now.HubMS+a.wait.Milliseconds(), a)
}

// leaveTurn takes a command out of the queue, because its caller has gone or may
// wait no longer, so that its idempotency key and its place among the agent's
// parked calls are free.
type leaveTurn struct {
	ask *leaseAsk
	why error
}

func (t leaveTurn) run(o *owner) {
	if t.ask.place != nil && o.leases.queue.Remove(t.ask.place) {
		t.ask.unpark()
		t.ask.fail(t.why)
	}
}

func (leaveTurn) fail(error) {}

// resume decides a command that leaves the queue, as the lease stands now.
func (a *leaseAsk) resume(o *owner, now core.Now) {
	a.unpark()
	defer o.caught(a) // it is this caller's panic, not that of whose turn it is
	if a.ctx.Err() != nil {
		a.fail(errExpired())
		return
	}
	if err := o.prepare(); err != nil {
		a.fail(err)
		return
	}
	d, err := a.decide(o.state.(*core.Leases), now)
	if err != nil {
		a.refuse(o, err)
		return
	}
	a.conclude(o, now, d.Draft, d.Answer)
}

// expire journals that leases are over and lets those who wait have them. After an
// error they are still held.
func (o *owner) expire(now core.Now, due core.Draft) error {
	if due.Empty() {
		return nil
	}
	err := o.commit(now, due, work{})
	if err == nil {
		o.serveWaiters(now, due.Facts)
	}
	return err
}

// serveWaiters grants what these facts have freed to who has waited longest.
func (o *owner) serveWaiters(now core.Now, facts []core.Fact) {
	if o.leases.queue.Len() == 0 {
		return
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *core.LeaseReleased:
			o.serveKey(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		case *core.LeaseExpired:
			o.serveKey(now, core.LeaseKey{Space: f.Space, Key: f.Key})
		}
	}
}

func (o *owner) serveKey(now core.Now, k core.LeaseKey) {
	for {
		// First: a rebuild serves those who wait, so who is in front may change.
		if o.prepare() != nil {
			return
		}
		w := o.leases.queue.Front(k)
		if w == nil {
			return
		}
		holder, held := o.state.(*core.Leases).Get(k)
		if held && holder.Agent != w.Value.agent && w.Value.ctx.Err() == nil {
			return
		}
		o.leases.queue.Remove(w)
		w.Value.resume(o, now)
	}
}

// settle serves who waits for what is free and sets the timer anew, after a
// rebuild. On a full disk nobody is granted anything; the timer looks again.
func (o *owner) settle() {
	t := o.leases
	if t == nil {
		return
	}
	if ok, _ := o.hub.journal.Room(); !ok {
		o.settleLater()
		return
	}
	t.unheard = false
	now := o.hub.clock.now()
	for _, k := range t.queue.Keys() {
		o.serveKey(now, k)
	}
	t.armed = 0
	o.arm()
}

// settleLater has the timer settle the owner in a moment: at once, what was just
// taken back would be decided and taken back again, without end.
func (o *owner) settleLater() {
	o.leases.unheard = true
	o.armAt(o.hub.clock.now().HubMS + frozenRetry.Milliseconds())
}

// refuseWaiters answers all who wait with an error.
func (o *owner) refuseWaiters(reason error) {
	if o.leases == nil {
		return
	}
	for _, w := range o.leases.queue.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.unpark()
		w.Value.fail(reason)
	}
}

// arm sets the timer to the next deadline.
func (o *owner) arm() {
	if o.doubt != nil || o.quarantined != nil {
		return // the rebuild sets it, or nobody
	}
	next, ok := o.state.(*core.Leases).NextDeadline()
	if until, waits := o.leases.queue.NextDeadline(); waits && (!ok || until < next) {
		next, ok = until, true
	}
	if armed := o.leases.armed; !ok || armed != 0 && armed <= next {
		return // it rings early at worst, and is set again then
	}
	o.armAt(next)
}

// armAt sets the timer to a moment of hub time.
func (o *owner) armAt(next int64) {
	t := o.leases
	t.armed = next
	d := o.hub.clock.until(next)
	if t.timer == nil {
		h, pid := o.hub, o.pid
		t.timer = time.AfterFunc(d, func() {
			if !h.stopping.Load() {
				h.stage.tell(pid, leaseTick{h, pid})
			}
		})
		return
	}
	t.timer.Reset(d)
}

// leaseTick is the turn in which deadlines come.
type leaseTick struct {
	hub *Hub
	pid address
}

func (k leaseTick) run(o *owner) {
	h, t := o.hub, o.leases
	t.armed = 0
	now := h.clock.now()
	if ok, free := h.journal.Room(); !ok {
		// A full disk freezes expiry too: nothing ends that cannot be journaled.
		// Who has waited enough is told why it was not granted.
		for _, w := range t.queue.TimedOut(now) {
			w.Value.unpark()
			w.Value.fail(errStorageFull(free))
		}
		o.armAt(now.HubMS + frozenRetry.Milliseconds())
		return
	}
	if t.unheard {
		o.settle()
	}
	for epoch := o.epoch; ; {
		due := o.state.(*core.Leases).Expire(now, h.world(), hub.MaxExpireBatch)
		if due.Empty() {
			break
		}
		failed := o.expire(now, due)
		if err := o.prepare(); err != nil {
			k.fail(err)
			return
		}
		if failed != nil || o.epoch != epoch { // it may have been taken back: look for room first
			o.armAt(now.HubMS + frozenRetry.Milliseconds())
			return
		}
	}
	for _, w := range t.queue.TimedOut(now) {
		w.Value.resume(o, now)
	}
	o.arm()
}

// fail comes later again: who waits for a deadline must not wait for the next
// command.
func (k leaseTick) fail(error) {
	time.AfterFunc(frozenRetry, func() {
		if !k.hub.stopping.Load() {
			k.hub.stage.tell(k.pid, k)
		}
	})
}

// reloadTurn has an owner whose records were taken back load its state now, not
// with the next command: who waits for a lease may be next, and deadlines that
// counted as met have not been.
type reloadTurn struct {
	hub *Hub
	pid address
}

func (reloadTurn) run(*owner) {} // taking it has loaded the state

func (t reloadTurn) fail(error) {
	time.AfterFunc(frozenRetry, func() {
		if !t.hub.stopping.Load() {
			t.hub.stage.tell(t.pid, t)
		}
	})
}

// frozenRetry is how long expiry waits before it looks for space again.
const frozenRetry = time.Second

// graceTurn is the first turn after a start: a lease that is nearly over gets a
// moment more, so that its holder can find the hub again and renew it.
type graceTurn struct{}

func (graceTurn) run(o *owner) {
	now := o.hub.clock.now()
	for epoch := o.epoch; o.epoch == epoch; { // what was taken back once is not tried again
		d := o.state.(*core.Leases).Graced(now, hub.MaxExpireBatch)
		if d.Empty() || o.commit(now, d, work{}) != nil || o.prepare() != nil {
			break
		}
	}
	o.arm()
}

func (graceTurn) fail(error) {}

// releaseTurn answers all who wait for a lease: the hub stops.
type releaseTurn struct{ done chan struct{} }

func (t releaseTurn) run(o *owner) {
	if o.leases.timer != nil {
		o.leases.timer.Stop()
	}
	now := o.hub.clock.now()
	for _, w := range o.leases.queue.TimedOut(core.Now{HubMS: math.MaxInt64}) {
		w.Value.resume(o, now)
	}
	close(t.done)
}

func (t releaseTurn) fail(error) { close(t.done) }

// releaseWaiters sends every lease owner a releaseTurn and waits for it.
func (h *Hub) releaseWaiters() {
	for i := range core.LeaseShards {
		o, _ := h.registry.find(core.LeaseOwner(i))
		t := releaseTurn{done: make(chan struct{})}
		h.stage.tell(o.pid, t)
		<-t.done
	}
}

// world is what deciding an expiry needs to know of others.
func (h *Hub) world() core.LeaseWorld { return leaseWorld{h} }

type leaseWorld struct{ h *Hub }

// Away reports whether the agent has no live session.
func (w leaseWorld) Away(agent hub.AgentID) bool {
	_, _, live := w.h.view.Directory.Session(agent)
	return !live
}

// ThreadChannel returns the channel of a thread's public messages, or "".
func (w leaseWorld) ThreadChannel(thread hub.ThreadID) hub.ChannelName {
	part, err := view.ReadThreadPart(w.h.rows, core.TableThread, []byte(thread))
	if err != nil {
		return "" // the notice goes to the default channel then
	}
	return part.Channel
}
