package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// checkpointMaxAge is how old the last checkpoint may get while records come in.
const checkpointMaxAge = 30 * time.Second

// keepCheckpoints saves the state when enough records have passed since asOf.
func (e *engine) keepCheckpoints(asOf hub.Seq, quit <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		passed := int(e.view.ShownUpTo()) - int(asOf)
		if passed == 0 && !e.view.Timed() { // what is held has its time: save that it passes
			last = time.Now()
			continue
		}
		if passed < e.options.checkpointEvery && time.Since(last) < checkpointMaxAge {
			continue
		}
		if ok, _ := e.journal.Room(); !ok {
			continue
		}
		saved, err := e.saveCheckpoint()
		if err != nil {
			e.log.LogAttrs(context.Background(), slog.LevelWarn, "checkpoint not saved", slog.Any("error", err))
			last = time.Now() // try again when it is due again
			continue
		}
		asOf, last = saved, time.Now()
	}
}

// saveCheckpoint collects the state of every owner that keeps one in memory, and
// saves it. The owners go on meanwhile: each section carries the number of the
// last record that is in it. The checkpoint's own number is taken first, so every
// section holds at least the records up to it.
func (e *engine) saveCheckpoint() (hub.Seq, error) {
	c, err := e.checkpointHead()
	if err != nil {
		return 0, err
	}
	if err := e.options.settle(c.Head.Seq); err != nil {
		return 0, err
	}
	for _, k := range e.permanentOwners() {
		if err := e.addSection(c, k); err != nil {
			return 0, err
		}
	}
	return c.Head.Seq, e.journal.SaveCheckpoint(c)
}

// checkpointHead begins a checkpoint with the directory, which is the view of
// committed records and so gives the number that all others reach.
func (e *engine) checkpointHead() (*core.Checkpoint, error) {
	sessions, head, err := e.view.Snapshot()
	if err != nil {
		return nil, err
	}
	now := e.clock.now()
	head.HubMS = now.HubMS // the last record's, otherwise: leases would get back the time since
	return &core.Checkpoint{
		Head: head, Wall: now.Wall,
		Sections: []core.Section{sessions},
	}, nil
}

// addSection asks an owner for its state and waits until that is durable.
func (e *engine) addSection(c *core.Checkpoint, k core.Owner) error {
	if e.isQuarantined(k) {
		return fmt.Errorf("%s is in quarantine: its records are kept", k)
	}
	p, err := e.registry.admit(k, 0)
	if err != nil {
		return err
	}
	reply := make(chan snapshot, 1)
	p.owner.tell(call{func(o *owner) {
		s := o.snapshot()
		e.seq.after(o.epoch, o.lastSeq, func(failed error) {
			s.err = failed
			reply <- s
		})
	}, func(err error) { reply <- snapshot{err: err} }})
	var s snapshot
	select {
	case s = <-reply:
	case <-e.failed:
		s.err = e.cause
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
func (o *owner) snapshot() snapshot {
	state := o.state.(interface{ Snapshot() []byte })
	return snapshot{asOf: o.lastSeq, version: o.engine.kinds[o.key.Kind].version, data: state.Snapshot()}
}

// checkpointStopped saves the state of a hub whose actors have ended.
func (e *engine) checkpointStopped() error {
	if ok, _ := e.journal.Room(); !ok {
		return nil // the next start replays instead
	}
	c, err := e.checkpointHead()
	if err != nil || !e.options.settled(c.Head.Seq) {
		return err // the same: it derives who is to get a seat
	}
	owners := e.permanentOwners()
	for _, k := range owners {
		e.addStopped(c, k)
	}
	if len(c.Sections) < 1+len(owners) {
		return nil // an owner is in quarantine, or ahead of the journal: its records are kept
	}
	err = e.journal.SaveCheckpoint(c)
	if errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
		e.log.LogAttrs(context.Background(), slog.LevelWarn, "the disk is full: no last checkpoint; nothing is lost, the next start replays")
		return nil
	}
	return err
}

func (e *engine) addStopped(c *core.Checkpoint, k core.Owner) {
	o := e.registry.shard(k).owners[k]
	if o == nil || o.quarantined != nil || o.doubt != nil || o.withdrawn.Load() {
		return
	}
	s := o.snapshot()
	c.Sections = append(c.Sections, core.Section{Owner: k, AsOf: max(o.lastSeq, c.Head.Seq), Version: s.version, Data: s.data})
}
