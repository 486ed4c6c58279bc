package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// CheckpointEvery is how many records pass between two checkpoints unless the
// options say otherwise.
const CheckpointEvery = 20_000

// checkpointMaxAge is how old the last checkpoint may get while records come in.
const checkpointMaxAge = 30 * time.Second

// How often it is looked whether a checkpoint is due: with records since the last
// one, and without. A hub that nobody calls should not be woken for nothing.
const (
	checkpointLook     = time.Second
	checkpointIdleLook = 5 * time.Second
)

// keepCheckpoints runs until quit is closed. It saves the state when
// CheckpointEvery records have passed since asOf, or when the last checkpoint
// is older than checkpointMaxAge.
func (e *Engine) keepCheckpoints(asOf hub.Seq, quit <-chan struct{}) {
	tick := time.NewTimer(checkpointLook)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		passed := int(e.view.ShownUpTo()) - int(asOf)
		if passed == 0 {
			tick.Reset(checkpointIdleLook)
		} else {
			tick.Reset(checkpointLook)
		}
		// Without new records a checkpoint is still useful while something has
		// a deadline: it keeps how much hub time has passed.
		if passed == 0 && !e.view.Timed() {
			last = time.Now()
			continue
		}
		if passed < e.options.CheckpointEvery && time.Since(last) < checkpointMaxAge {
			continue
		}
		if ok, _ := e.Journal.Room(); !ok {
			continue
		}
		saved, err := e.SaveCheckpoint()
		if err != nil {
			e.log.LogAttrs(context.Background(), slog.LevelWarn, "checkpoint not saved", slog.Any("error", err))
			last = time.Now() // the next try is due after checkpointMaxAge
			continue
		}
		asOf, last = saved, time.Now()
	}
}

// SaveCheckpoint saves the state of the sessions and of every permanent owner.
// The owners go on deciding meanwhile, so the sections show different moments.
// Each carries the number of the last record in it (AsOf), and a replay skips
// the records up to that number.
//
// The checkpoint's own number is taken before any section. So every section
// holds at least the records up to that number, and a start reads those behind it.
// A crash before the journal has saved it leaves the previous checkpoint and all
// records after it.
func (e *Engine) SaveCheckpoint() (hub.Seq, error) {
	if k, any := e.quarantine.any(); any {
		return 0, fmt.Errorf("%s is in quarantine: its records are kept", k)
	}
	c, err := e.checkpointHead()
	if err != nil {
		return 0, err
	}
	if err := e.options.Settle(c.Head.Seq); err != nil {
		return 0, err
	}
	if err := e.addSections(c); err != nil {
		return 0, err
	}
	if err := e.options.Saving(c); err != nil {
		return 0, err
	}
	return c.Head.Seq, e.Journal.SaveCheckpoint(c)
}

// Checkpoint returns the state that SaveCheckpoint would save now, also while an owner
// is in quarantine or seats are due.
func (e *Engine) Checkpoint() (*core.Checkpoint, error) {
	c, err := e.checkpointHead()
	if err == nil {
		err = e.addSections(c)
	}
	return c, err
}

func (e *Engine) addSections(c *core.Checkpoint) error {
	for _, k := range e.permanentOwners() {
		if err := e.addSection(c, k); err != nil {
			return err
		}
	}
	return nil
}

// checkpointHead begins a checkpoint with the sessions of the directory view. A
// view shows committed records only, so the checkpoint has the number of the
// view's last record.
func (e *Engine) checkpointHead() (*core.Checkpoint, error) {
	sessions, head, err := e.view.Snapshot()
	if err != nil {
		return nil, err
	}
	now := e.Clock.Now()
	// The time of the last record would be wrong: after a start, leases would
	// get back the time that has passed since that record.
	head.HubMS = now.HubMS
	return &core.Checkpoint{
		Head: head, Wall: now.Wall,
		Sections: []core.Section{sessions},
	}, nil
}

// addSection asks an owner for its state and waits until all records in the state are
// durable: a checkpoint must not be ahead of the journal.
func (e *Engine) addSection(c *core.Checkpoint, k core.Owner) error {
	if e.quarantine.has(k) {
		return fmt.Errorf("%s is in quarantine: its records are kept", k)
	}
	p, err := e.registry.admit(k, 0)
	if err != nil {
		return err
	}
	reply := make(chan snapshot, 1)
	p.Owner.Tell(Call{func(o *Owner) {
		s := o.snapshot()
		e.Seq.after(o.Epoch, o.lastSeq.Load(), func(failed error) {
			s.err = failed
			reply <- s
		})
	}, func(err error) { reply <- snapshot{err: err} }})
	var s snapshot
	select {
	case s = <-reply:
	case <-e.Failed:
		s.err = e.Cause
	}
	e.registry.done(p)
	if s.err != nil {
		return s.err
	}
	c.Sections = append(c.Sections, core.Section{Owner: k, AsOf: max(s.asOf, c.Head.Seq), Version: s.version, Data: s.data})
	return nil
}

type snapshot struct {
	asOf    hub.Seq
	version uint16
	data    []byte
	err     error
}

// snapshot returns the state of a permanent owner.
func (o *Owner) snapshot() snapshot {
	state := o.State.(interface{ Snapshot() []byte })
	return snapshot{asOf: o.lastSeq.Load(), version: o.engine.kinds[o.key.Kind].Version, data: state.Snapshot()}
}

// checkpointStopped saves the state of a hub whose actors have ended.
func (e *Engine) checkpointStopped() error {
	if _, any := e.quarantine.any(); any {
		return nil // the journal must keep the owner's records
	}
	if ok, _ := e.Journal.Room(); !ok {
		return nil // the next start replays instead
	}
	c, err := e.checkpointHead()
	if err != nil || !e.options.Settled(c.Head.Seq) {
		return err // not settled: the next start replays and derives the follow-up work
	}
	owners := e.permanentOwners()
	for _, k := range owners {
		e.addStopped(c, k)
	}
	if len(c.Sections) < 1+len(owners) {
		return nil // an owner is ahead of the journal: its records are kept
	}
	if err = e.options.Saving(c); err == nil {
		err = e.Journal.SaveCheckpoint(c)
	}
	if errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) || errors.Is(err, core.ErrNoRoom) {
		e.log.LogAttrs(context.Background(), slog.LevelWarn, "the disk is full, so the last checkpoint was not saved; nothing is lost: the next start replays more records")
		return nil
	}
	return err
}

func (e *Engine) addStopped(c *core.Checkpoint, k core.Owner) {
	o := e.registry.shard(k).owners[k]
	if o == nil || o.Quarantined != nil || o.Dirty != nil || o.Withdrawn.Load() {
		return
	}
	s := o.snapshot()
	c.Sections = append(c.Sections, core.Section{Owner: k, AsOf: max(o.lastSeq.Load(), c.Head.Seq), Version: s.version, Data: s.data})
}
