package engine

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

// Owner is one actor: it owns one state and takes turns with it. Everything but
// the fields of the registry is touched in its turns only.
type Owner struct {
	engine *Engine
	key    core.Owner
	PID    address
	State  core.Machine // nil until the first turn has loaded it

	Epoch       uint64      // of the sequencer, when the turn last made sure of the state
	Withdrawn   atomic.Bool // records of it were taken back: the state is ahead; set by the sequencer
	lastSeq     hub.Seq     // its last record
	Doubt       error       // Apply has panicked: state is rebuilt before it decides anything more
	doubtSeq    hub.Seq     // in that record
	Quarantined error       // its facts cannot be applied; every command is refused
	Extension   Extension   // nil: the kind has none

	// Guarded by the registry's shard.
	Commands int   // admitted and not ended
	Bytes    int64 // of these commands
	idle     *idleOwner
}

// take runs one turn. A panic in it, which is one in Decide, changes nothing:
// the command is answered and the owner goes on.
func (o *Owner) take(t Turn) {
	defer o.Caught(t)
	if _, err := o.Current(); err != nil {
		t.Fail(err)
		return
	}
	t.Run(o)
}

// Tell sends the owner a turn.
func (o *Owner) Tell(t Turn) { o.engine.stage.tell(o.PID, t) }

// Current returns the state, ready for a decision. A turn that has committed calls it
// before it decides anew: the record may have left the state dirty, or may have been
// taken back. It is the one place where state is loaded, reloaded and rebuilt.
func (o *Owner) Current() (core.Machine, error) {
	err := o.prepare()
	return o.State, err
}

// Caught, deferred, turns a panic into the answer of t.
func (o *Owner) Caught(t Turn) {
	if r := recover(); r != nil {
		o.engine.log.LogAttrs(context.Background(), slog.LevelError, "panic while deciding",
			slog.String("owner", o.key.String()), slog.String("stack", string(debug.Stack())))
		t.Fail(hub.NewError(hub.CodeInternal, "the hub failed while it decided this; nothing was changed").
			WithFix("report this; another input may go through"))
	}
}

// prepare makes the state ready for a decision.
func (o *Owner) prepare() error {
	for {
		// The epoch first: what is taken back after this line is refused by its
		// number, what was taken back before is seen here.
		o.Epoch = o.engine.Seq.epoch.Load()
		var err error
		switch {
		case o.Quarantined != nil:
			return o.Quarantined
		case o.Withdrawn.Load():
			err = o.reload()
		case o.Doubt != nil:
			err = o.rebuild()
		case o.State == nil:
			o.State, err = o.engine.load(o.key)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Work is what commits a draft: what the command brings to it.
type Work struct {
	proof  core.SessionProof // of the caller; zero proves nothing
	begins core.SessionProof // what the record starts, if it starts a session
	// filled is called with the record when its messages and facts stand in it,
	// before it is published: it may add the effect. It must not keep the record.
	filled func(*core.Record)
	// deliver is called by the writer once the record is durable and visible.
	deliver func(error)
}

// Commit numbers a draft, applies it and hands it to the writer. An error means
// that nothing happened.
func (o *Owner) Commit(now core.Now, d core.Draft, w Work) error {
	step := o.engine.options.Step
	step(StepDecided)
	s := &slot{record: &core.Record{Owner: o.key}, facts: d.Facts, deliver: w.deliver, owner: o, begins: w.begins}
	if err := o.engine.Seq.reserve(s, o.Epoch, now, len(d.Messages), d.Fences, w.proof); err != nil {
		return err
	}
	// From here on only fail-stop remains: the writer waits for this slot.
	defer func() {
		if r := recover(); r != nil {
			o.engine.escaped(fmt.Sprintf("panic in the record of %s: %v\n%s", o.key, r, debug.Stack()))
			panic(r)
		}
	}()
	step(StepNumbered)
	r := s.record
	at := r.Position()
	o.lastSeq = r.Seq
	if o.Extension != nil {
		o.Extension.Note(d.Facts, r.Seq)
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
		if o.Doubt != nil {
			// All rows of a record or none; a mark instead, so that the rows are
			// derived also if the process ends before the rebuild.
			r.Rows = []core.Row{DirtyMark(o.key, r.Seq)}
			o.engine.dirty.Hold(o.key, r.Seq)
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
	o.engine.Seq.publish(s)
	return nil
}

// apply changes the state. A panic leaves it in doubt: the record stands, and
// the owner is rebuilt before its next turn.
func (o *Owner) apply(facts []core.Fact, at core.Position, rows core.RowSink) {
	defer func() {
		if r := recover(); r != nil {
			o.Doubt, o.doubtSeq = fmt.Errorf("apply record %d: %v", at.Seq, r), at.Seq
			o.engine.log.LogAttrs(context.Background(), slog.LevelError, "panic while applying",
				slog.String("owner", o.key.String()), slog.Uint64("seq", uint64(at.Seq)), slog.String("stack", string(debug.Stack())))
			// Rebuild now, not with the next command. The permit keeps the owner
			// from being retired before: its row lacks what the record says.
			o.Tell(o.rebuildTurn(o.engine.Registry.hold(o)))
		}
	}()
	for _, f := range facts {
		if hook := o.engine.options.ApplyHook; hook != nil {
			hook(o.key, f)
		}
		o.State.Apply(f, at, rows)
	}
}

// rebuildTurn has nothing else to do: taking it makes the state ready. Where only the
// disk is full it comes again later: without its permit the owner could be retired,
// and its row lacks what the record says.
func (o *Owner) rebuildTurn(p permit) Turn {
	done := func() { o.engine.Registry.Done(p) }
	return Call{func(*Owner) { done() }, func(err error) {
		if !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
			done()
			return
		}
		time.AfterFunc(FrozenRetry, func() {
			if o.engine.Stopping.Load() {
				done()
				return
			}
			o.Tell(o.rebuildTurn(p))
		})
	}}
}

// reloadTurn has an owner whose records were taken back load its state now, not with
// the next command: a caller that waits in its extension may be next, and deadlines
// that counted as met have not been.
func (o *Owner) reloadTurn() Turn {
	return Call{func(*Owner) {}, func(error) { o.TellLater(o.reloadTurn) }}
}

// TellLater sends a turn once the disk may have room again, unless the hub stops.
func (o *Owner) TellLater(t func() Turn) {
	time.AfterFunc(FrozenRetry, func() {
		if !o.engine.Stopping.Load() {
			o.Tell(t())
		}
	})
}

// FrozenRetry is how long the hub waits before it looks for space again.
const FrozenRetry = time.Second
