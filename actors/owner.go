package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// owner is one actor: it owns one state and takes turns with it. Everything but
// the fields of the registry is touched in its turns only.
type owner struct {
	hub   *Hub
	key   core.Owner
	pid   address
	state core.Machine // nil until the first turn has loaded it

	epoch       uint64      // of the sequencer, when the turn last made sure of the state
	withdrawn   atomic.Bool // records of it were taken back: the state is ahead; set by the sequencer
	lastSeq     hub.Seq     // its last record
	doubt       error       // Apply has panicked: state is rebuilt before it decides anything more
	doubtSeq    hub.Seq     // in that record
	quarantined error       // its facts cannot be applied; every command is refused
	leases      *leaseTimer

	// Guarded by the registry's shard.
	commands int   // admitted and not ended
	bytes    int64 // of these commands
	idle     *idleOwner
}

// take runs one turn. A panic in it, which is one in Decide, changes nothing:
// the command is answered and the owner goes on.
func (o *owner) take(t turn) {
	defer o.caught(t)
	if err := o.prepare(); err != nil {
		t.fail(err)
		return
	}
	t.run(o)
}

// caught, deferred, turns a panic into the answer of t.
func (o *owner) caught(t turn) {
	if r := recover(); r != nil {
		o.hub.log.LogAttrs(context.Background(), slog.LevelError, "panic while deciding",
			slog.String("owner", o.key.String()), slog.String("stack", string(debug.Stack())))
		t.fail(hub.NewError(hub.CodeInternal, "the hub failed while it decided this; nothing was changed").
			WithFix("report this; another input may go through"))
	}
}

// prepare makes the state ready for a decision.
func (o *owner) prepare() error {
	for {
		// The epoch first: what is taken back after this line is refused by its
		// number, what was taken back before is seen here.
		o.epoch = o.hub.seq.epoch.Load()
		var err error
		switch {
		case o.quarantined != nil:
			return o.quarantined
		case o.withdrawn.Load():
			err = o.reload()
		case o.doubt != nil:
			err = o.rebuild()
		case o.state == nil:
			o.state, err = o.hub.load(o.key)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// work is what commits a draft: what the command brings to it.
type work struct {
	proof  core.SessionProof // of the caller; zero proves nothing
	begins core.SessionProof // what the record starts, if it starts a session
	// filled is called with the record when its messages and facts stand in it,
	// before it is published: it may add the effect. It must not keep the record.
	filled func(*core.Record)
	// deliver is called by the writer once the record is durable and visible.
	deliver func(error)
}

// commit numbers a draft, applies it and hands it to the writer. An error means
// that nothing happened.
func (o *owner) commit(now core.Now, d core.Draft, w work) error {
	step := o.hub.options.Step
	step(StepDecided)
	s := &slot{record: &core.Record{Owner: o.key}, facts: d.Facts, deliver: w.deliver, owner: o, begins: w.begins}
	if err := o.hub.seq.reserve(s, o.epoch, now, len(d.Messages), d.Fences, w.proof); err != nil {
		return err
	}
	// From here on only fail-stop remains: the writer waits for this slot.
	defer func() {
		if r := recover(); r != nil {
			o.hub.escaped(fmt.Sprintf("panic in the record of %s: %v\n%s", o.key, r, debug.Stack()))
			panic(r)
		}
	}()
	step(StepNumbered)
	r := s.record
	at := r.Position()
	o.lastSeq = r.Seq
	if o.leases != nil {
		o.leases.note(d.Facts, r.Seq, o.hub.seq.durableSeq)
	}
	s.bytes = 128
	if len(d.Messages) > 0 {
		r.Messages = make([]core.StoredMessage, len(d.Messages))
		for i := range d.Messages {
			m := d.Messages[i]
			if m.Numbered != nil {
				m.Numbered(&m, at)
			}
			r.Messages[i] = m.Encode(at.Message(i), now.Wall)
			s.bytes += len(r.Messages[i].JSON) + 256
		}
	}
	if len(d.Facts) > 0 {
		r.Facts = make([]core.EncodedFact, len(d.Facts))
		for i, f := range d.Facts {
			r.Facts[i] = core.EncodeFact(f)
			s.bytes += len(r.Facts[i].Data)
		}
		o.apply(d.Facts, at, func(row core.Row) {
			r.Rows = append(r.Rows, row)
			s.bytes += len(row.Key) + len(row.Value)
		})
		if o.doubt != nil {
			// All rows of a record or none; a mark instead, so that the rows are
			// derived also if the process ends before the rebuild.
			r.Rows = []core.Row{doubtMark(o.key, r.Seq)}
			o.hub.indexer.hold(o.key, r.Seq)
		}
	}
	if d.Content != nil { // no fact has it, so it is stored also where rows are in doubt
		r.Rows = append(r.Rows, core.Row{Table: core.TableArtifactContent, Key: core.SeqKey(r.Seq), Value: d.Content})
		s.bytes += len(d.Content)
	}
	if w.filled != nil {
		w.filled(r)
	}
	step(StepApplied)
	o.hub.seq.publish(s)
	return nil
}

// apply changes the state. A panic leaves it in doubt: the record stands, and
// the owner is rebuilt before its next turn.
func (o *owner) apply(facts []core.Fact, at core.Position, rows core.RowSink) {
	defer func() {
		if r := recover(); r != nil {
			o.doubt, o.doubtSeq = fmt.Errorf("apply record %d: %v", at.Seq, r), at.Seq
			o.hub.log.LogAttrs(context.Background(), slog.LevelError, "panic while applying",
				slog.String("owner", o.key.String()), slog.Uint64("seq", uint64(at.Seq)), slog.String("stack", string(debug.Stack())))
			// Rebuild now, not with the next command. The permit keeps the owner
			// from being retired before: its row lacks what the record says.
			o.hub.stage.tell(o.pid, rebuildTurn{o.hub.registry.hold(o)})
		}
	}()
	for _, f := range facts {
		if hook := o.hub.options.ApplyHook; hook != nil {
			hook(o.key, f)
		}
		o.state.Apply(f, at, rows)
	}
}

// rebuildTurn has nothing else to do: taking it makes the state ready.
type rebuildTurn struct{ permit permit }

func (t rebuildTurn) run(o *owner) { o.hub.registry.done(t.permit) }

// fail comes again later where only the disk is full: without its permit the owner
// could be retired, and its row lacks what the record says.
func (t rebuildTurn) fail(err error) {
	o := t.permit.owner
	if !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
		o.hub.registry.done(t.permit)
		return
	}
	time.AfterFunc(frozenRetry, func() {
		if o.hub.stopping.Load() {
			o.hub.registry.done(t.permit)
			return
		}
		o.hub.stage.tell(o.pid, t)
	})
}
