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
func (h *Hub) keepCheckpoints(asOf hub.Seq, quit <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		passed := int(h.view.ShownUpTo()) - int(asOf)
		if passed == 0 && h.view.Leases.Len() == 0 { // what is held has its time: save that it passes
			last = time.Now()
			continue
		}
		if passed < h.options.CheckpointEvery && time.Since(last) < checkpointMaxAge {
			continue
		}
		if ok, _ := h.journal.Room(); !ok {
			continue
		}
		saved, err := h.saveCheckpoint()
		if err != nil {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "checkpoint not saved", slog.Any("error", err))
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
func (h *Hub) saveCheckpoint() (hub.Seq, error) {
	c, err := h.checkpointHead()
	if err != nil {
		return 0, err
	}
	if err := h.settleSeating(c.Head.Seq, seatingGrace); err != nil {
		return 0, err
	}
	for _, k := range permanentOwners() {
		if err := h.addSection(c, k); err != nil {
			return 0, err
		}
	}
	return c.Head.Seq, h.journal.SaveCheckpoint(c)
}

// checkpointHead begins a checkpoint with the directory, which is the view of
// committed records and so gives the number that all others reach.
func (h *Hub) checkpointHead() (*core.Checkpoint, error) {
	sessions, head, err := h.view.Snapshot()
	if err != nil {
		return nil, err
	}
	now := h.clock.now()
	head.HubMS = now.HubMS // the last record's, otherwise: leases would get back the time since
	return &core.Checkpoint{
		Head: head, Wall: now.Wall,
		Sections: []core.Section{sessions},
	}, nil
}

// addSection asks an owner for its state and waits until that is durable.
func (h *Hub) addSection(c *core.Checkpoint, k core.Owner) error {
	if h.isQuarantined(k) {
		return fmt.Errorf("%s is in quarantine: its records are kept", k)
	}
	p, err := h.registry.admit(k, 0)
	if err != nil {
		return err
	}
	t := &snapshotTurn{hub: h, reply: make(chan snapshot, 1)}
	h.stage.tell(p.owner.pid, t)
	var s snapshot
	select {
	case s = <-t.reply:
	case <-h.failed:
		s.err = h.cause
	}
	h.registry.done(p)
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

// snapshotTurn takes the state of an owner in its turn and answers when that
// state is durable.
type snapshotTurn struct {
	hub   *Hub
	reply chan snapshot
}

func (t *snapshotTurn) run(o *owner) {
	s := snapshotOf(o.state)
	s.asOf = o.lastSeq
	t.hub.seq.after(o.epoch, o.lastSeq, func(failed error) {
		s.err = failed
		t.reply <- s
	})
}

func (t *snapshotTurn) fail(err error) { t.reply <- snapshot{err: err} }

func snapshotOf(m core.Machine) snapshot {
	switch state := m.(type) {
	case *core.Leases:
		return snapshot{version: core.LeasesVersion, data: state.Snapshot()}
	case *core.Tasks:
		return snapshot{version: core.TasksVersion, data: state.Snapshot()}
	case *core.Projects:
		return snapshot{version: core.ProjectsVersion, data: state.Snapshot()}
	}
	panic(fmt.Sprintf("actors: %T is not kept in checkpoints", m))
}

// checkpointStopped saves the state of a hub whose actors have ended.
func (h *Hub) checkpointStopped() error {
	if ok, _ := h.journal.Room(); !ok {
		return nil // the next start replays instead
	}
	c, err := h.checkpointHead()
	if err != nil || !h.seating.settled(c.Head.Seq) {
		return err // the same: it derives who is to get a seat
	}
	owners := permanentOwners()
	for _, k := range owners {
		h.addStopped(c, k)
	}
	if len(c.Sections) < 1+len(owners) {
		return nil // an owner is in quarantine, or ahead of the journal: its records are kept
	}
	err = h.journal.SaveCheckpoint(c)
	if errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "the disk is full: no last checkpoint; nothing is lost, the next start replays")
		return nil
	}
	return err
}

func (h *Hub) addStopped(c *core.Checkpoint, k core.Owner) {
	o := h.registry.shard(k).owners[k]
	if o == nil || o.quarantined != nil || o.doubt != nil || o.withdrawn.Load() {
		return
	}
	s := snapshotOf(o.state)
	c.Sections = append(c.Sections, core.Section{Owner: k, AsOf: max(o.lastSeq, c.Head.Seq), Version: s.version, Data: s.data})
}
