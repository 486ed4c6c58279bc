package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"hubcli/actors/core"
	"hubcli/hub"
)

// receive takes the messages of the owner's actor; other messages than turns are not
// for it.
func (o *Owner) receive(message any) {
	if t, ok := message.(Turn); ok {
		o.take(t)
	}
}

// take runs one turn. A panic in Decide has changed nothing: Decide only reads. So the
// command is answered with an error and the owner goes on. Panics in Apply are caught
// in apply; a panic elsewhere in Commit stops the hub.
func (o *Owner) take(t Turn) {
	defer o.Caught(t)
	if _, err := o.Current(); err != nil {
		t.Fail(err)
		return
	}
	t.Run(o)
}

// Current returns the state, ready for a decision. State is loaded, reloaded and
// rebuilt here and nowhere else. A turn that decides more than once calls Current
// again after each commit: the record may have left the state dirty, or may have been
// taken back.
func (o *Owner) Current() (core.Machine, error) {
	err := o.prepare()
	return o.State, err
}

// Caught is deferred: it turns a panic of Decide into an error for the caller of t.
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
		// Read the epoch before the flag; withdraw sets the flag before the epoch. So
		// a withdrawal before this line is seen in the flag. After a withdrawal behind
		// this line, reserve refuses the turn's decision by its epoch.
		o.Epoch = o.engine.Seq.epoch.Load()
		var err error
		switch {
		case o.Quarantined != nil:
			return o.Quarantined
		case o.Withdrawn.Load():
			err = o.reload()
		case o.Dirty != nil:
			err = o.rebuild()
		case o.State == nil:
			o.State, err = o.engine.load(o.key)
			o.weigh()
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Work is what a command adds to the draft of its decision.
type Work struct {
	proof  core.SessionProof // of the caller; zero proves nothing
	begins core.SessionProof // the session that the record starts; zero: none
	// filled is called when the record has its messages, facts and rows, before it is
	// published. It may add the effect. It must not keep the record.
	filled func(*core.Record)
	// deliver is called once: with nil when the record is durable and visible, or with
	// the error for which it was taken back or is unknown.
	deliver func(error)
}

// Commit numbers a draft, applies it and hands it to the writer. After an error
// nothing has happened, and deliver is not called. After nil deliver answers.
//
// What each step leaves if it fails:
//
//  1. reserve refuses: nothing has changed, the command is answered.
//  2. Encoding panics: the number is given and the writer waits for the entry for
//     ever. No owner can mend that, so the hub stops (escaped).
//  3. Apply panics: the facts are decided and numbered, so the record stands. The
//     state is dirty and the record's rows are incomplete. The record carries a mark
//     in place of its rows, and the owner derives them again in rebuild.
//  4. The journal refuses the group, because the disk is full: withdraw has set
//     Withdrawn, and the next turn loads the state anew.
func (o *Owner) Commit(now core.Now, d core.Draft, w Work) error {
	step := o.engine.options.Step
	step(StepDecided)
	s := &entry{record: &core.Record{Owner: o.key}, facts: d.Facts, deliver: w.deliver, owner: o, begins: w.begins}
	if err := o.engine.Seq.reserve(s, o.Epoch, now, len(d.Messages), d.Fences, w.proof); err != nil {
		return err
	}
	// The writer waits for this entry from here on: publish it or stop the hub.
	defer func() {
		if r := recover(); r != nil {
			o.engine.escaped(fmt.Sprintf("panic in the record of %s: %v\n%s", o.key, r, debug.Stack()))
			panic(r)
		}
	}()
	step(StepNumbered)
	r := s.record
	at := r.Position()
	o.lastSeq.Store(r.Seq)
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
		if o.Dirty != nil {
			// Store all rows of a record or none. The mark makes the next start
			// derive them if the process ends before the rebuild.
			r.Rows = []core.Row{dirtyMark(o.key, r.Seq)}
			o.engine.dirty.Hold(o.key, r.Seq)
		}
	}
	if d.Content != nil { // no fact has it, so a rebuild could not derive it
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

// apply changes the state. After a panic the state is dirty, the record stands, and
// the owner is rebuilt before it decides again.
func (o *Owner) apply(facts []core.Fact, at core.Position, rows core.RowSink) {
	defer func() {
		if r := recover(); r != nil {
			o.Dirty, o.dirtySeq = fmt.Errorf("apply record %d: %v", at.Seq, r), at.Seq
			o.engine.log.LogAttrs(context.Background(), slog.LevelError, "panic while applying",
				slog.String("owner", o.key.String()), slog.Uint64("seq", uint64(at.Seq)), slog.String("stack", string(debug.Stack())))
			// Rebuild soon, not only with the next command. The permit keeps the
			// owner from being retired before: its stored row lacks this record.
			o.Tell(o.rebuildTurn(o.engine.registry.hold(o)))
		}
	}()
	for _, f := range facts {
		if hook := o.engine.options.ApplyHook; hook != nil {
			hook(o.key, f)
		}
		o.State.Apply(f, at, rows)
	}
	o.weigh()
}
