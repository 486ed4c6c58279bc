package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Limits of one group, which is one synced commit. Beyond some hundred records
// the cost per record does not fall, and the answers only come later.
const (
	maxGroupRecords = 1024
	maxGroupBytes   = 1 << 20
)

// writer makes pending records durable, group by group. After the sync it shows
// the group in the views, delivers its answers and wakes parked calls, in this
// order. The package comment says why.
//
// A group is everything that became ready during the sync of the previous
// group. So there is no timer: a lone write is synced at once, and many writes
// share a sync.
//
// The writer is fail-stop. After an Append fails, the outcome is unknown, so
// every answer is store_failed, and the hub ends. A full disk is different: the
// journal refuses a group before it writes a part of it, and the writer takes
// the group back.
type writer struct {
	seq     *sequencer
	journal core.Journal
	view    Views
	// subscribers see each committed record after the views. They must not block.
	subscribers []subscriber
	notifier    interface{ Add(scopes []core.Scope) }
	log         *slog.Logger
	clock       *clock
	failed      func(error) // called once
	// withdrawn gets the owners that have to load their state again. It must
	// not wait for their turns: a turn may wait for the writer.
	withdrawn func(map[*Owner]struct{})
	step      func(Step)

	recent  recentRecords
	entries []*entry
	scopes  []core.Scope
	Done    chan struct{}
}

// serve commits until stop is closed or a commit fails. After stop it commits
// what is still ready; no record gets a number anymore.
func (w *writer) serve(stop <-chan struct{}) {
	defer close(w.Done)
	for {
		select {
		case <-w.seq.wake:
			if !w.drain() {
				return
			}
		case <-stop:
			w.drain()
			return
		}
	}
}

// drain commits everything that is ready. It returns false after a failure.
func (w *writer) drain() bool {
	for {
		w.entries = w.seq.take(w.entries[:0], maxGroupRecords, maxGroupBytes)
		if len(w.entries) == 0 {
			return true
		}
		switch err := w.commit(w.entries); {
		case errors.Is(err, core.ErrNoRoom):
			w.withdraw()
		case err != nil:
			w.fail(err)
			return false
		}
		clear(w.entries)
	}
}

// commit makes one group durable, shows it and answers it. After Append it must
// not fail, because the records are durable.
//
// It answers after all records of the group are shown and durable has moved
// (see committed). Otherwise a caller could have its answer while an owner
// still counts its record as not durable. A group that has only barriers does
// not touch the disk.
func (w *writer) commit(entries []*entry) error {
	if entries[0].gap != nil {
		return w.passOver(entries[0])
	}
	group := &core.Group{Records: make([]*core.Record, 0, len(entries))}
	for _, s := range entries {
		if s.record != nil {
			group.Records = append(group.Records, s.record)
		}
	}
	if len(group.Records) > 0 {
		rows, err := w.view.Prepare(group.Records)
		if err != nil {
			return fmt.Errorf("prepare view: %w", err)
		}
		group.Rows = rows
		w.step(StepAppending)
		if err := w.journal.Append(group); err != nil {
			return err
		}
		w.step(StepAppended)
	}
	w.scopes = w.scopes[:0]
	w.view.Begin()
	for _, s := range entries {
		if s.record != nil {
			w.recent.add(s)
			w.scopes = w.view.Show(s.record, s.facts, w.scopes)
			for _, shown := range w.subscribers {
				shown(s.record, s.facts)
			}
		}
	}
	w.view.End()
	if n := len(group.Records); n > 0 {
		w.seq.committed(group.Records[n-1])
	}
	w.step(StepShown)
	for _, s := range entries {
		if s.deliver != nil {
			s.deliver(nil)
		}
	}
	w.step(StepAnswered)
	w.notifier.Add(w.scopes)
	return nil
}

// withdraw takes back the group for which the disk has no room, and everything
// that was decided after it. Every caller is told that nothing was written, and
// may repeat the call. The views drop their notes first, because other records
// get the same numbers.
func (w *writer) withdraw() {
	w.view.Forget()
	left, again, owners := w.seq.withdraw(w.entries)
	// A session that is current again may have ended while its successor was
	// pending. The views have shown that end, but SessionEnded ignored it,
	// because the successor was current then.
	for _, s := range again {
		if !w.view.Live(s.Agent) {
			w.seq.SessionEnded(s, w.clock.Now().HubMS)
		}
	}
	w.log.LogAttrs(context.Background(), slog.LevelWarn, "the disk of the store is full: pending writes were not written, and their callers were told so",
		slog.Int("answers", len(left)))
	for _, s := range left {
		if s.deliver != nil {
			s.deliver(s.withdrawn)
		}
	}
	w.withdrawn(owners)
}

// fail answers all pending calls with store_failed and stops the hub. It logs
// the journal's error, so this error may name only the operation: texts of the
// store itself may hold message bodies.
func (w *writer) fail(cause error) {
	w.log.LogAttrs(context.Background(), slog.LevelError, "journal commit failed; stopping", slog.String("error", fmt.Sprint(cause)))
	answer := errStoreFailed(cause)
	left := w.seq.fail(answer)
	for _, s := range w.entries {
		if s.deliver != nil {
			s.deliver(answer)
		}
	}
	for _, s := range left {
		if s.deliver != nil {
			s.deliver(answer)
		}
	}
	w.failed(cause)
}

// errStoreFailed is the answer to the calls that a failure of the store meets. A store whose
// folder is gone says so itself.
func errStoreFailed(cause error) error {
	var told *hub.Error
	if errors.As(cause, &told) && told.Code == hub.CodeStoreGone {
		return told
	}
	return hub.NewError(hub.CodeStoreFailed, "the store failed during this write; whether it took effect is unknown").
		WithFix("start the hub again when its disk works, and repeat the call with the same idempotency key")
}
