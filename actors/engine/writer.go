package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Caps of one group. A group is one synced commit. More than some hundred records
// make the commit no cheaper for each of them and only delay the answers.
const (
	maxGroupRecords = 1024
	maxGroupBytes   = 1 << 20
)

// writer makes pending records durable, group by group. Behind the sync it shows the
// group in the views, delivers its answers and wakes parked calls, in this order. The
// package comment says why.
//
// A group is everything that became ready while the writer synced the group before.
// So there is no timer: a lone write is synced at once, and many writes share a sync.
//
// The writer is fail-stop. After an Append that failed the outcome is unknown, so
// every answer is store_failed, and the hub ends. A full disk is different: the
// journal refuses a group before it writes any of it, and the group is taken back.
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
	// withdrawn gets the owners that have to load their state anew. It must not wait
	// for their turns: a turn may wait for the writer.
	withdrawn func(map[*Owner]struct{})
	step      func(Step)

	recent  recentRecords
	entries []*entry
	scopes  []core.Scope
	Done    chan struct{}
}

// serve commits until stop is closed or a commit fails. After stop it commits once
// more what is ready; nothing is numbered by then.
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

// commit makes one group durable, shows it and answers it. Behind Append it must not
// fail: the records stand.
//
// The answers of the group leave after all of its records are shown and after durable
// has moved (committed). Otherwise a caller with an answer could be told by an owner
// that the record it wrote is not durable yet. A group of barriers only touches no
// disk.
func (w *writer) commit(entries []*entry) error {
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

// withdraw takes back the group for which the disk has no room, and everything that
// was decided after it. Every caller is told that nothing was written, and may repeat
// the call. The views drop their notes first, because the same numbers come again.
func (w *writer) withdraw() {
	w.view.Forget()
	left, again, owners := w.seq.withdraw(w.entries)
	// A session that counts again may have ended while its successor was pending. The
	// views have shown that end, but SessionEnded passed it over: another incarnation
	// stood in its place.
	for _, s := range again {
		if !w.view.Live(s.Agent) {
			w.seq.SessionEnded(s, w.clock.Now().HubMS)
		}
	}
	w.log.LogAttrs(context.Background(), slog.LevelWarn, "the disk of the store is full: what was under way was not written, and its callers were told so",
		slog.Int("answers", len(left)))
	for _, s := range left {
		if s.deliver != nil {
			s.deliver(s.withdrawn)
		}
	}
	w.withdrawn(owners)
}

// fail answers everything under way with store_failed and stops the hub. The journal
// must name only the operation in its errors, for they are logged here: the store's
// own texts may hold message bodies.
func (w *writer) fail(cause error) {
	w.log.LogAttrs(context.Background(), slog.LevelError, "journal commit failed; stopping", slog.String("error", fmt.Sprint(cause)))
	answer := errStoreFailed()
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

func errStoreFailed() error {
	return hub.NewError(hub.CodeStoreFailed, "the store failed while this was written; whether it was is unknown").
		WithFix("start the hub again once its disk is well, and repeat the call with the same idempotency key")
}
