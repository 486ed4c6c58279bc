package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Caps of one group. A group is one synced commit; beyond some hundred records
// it gains nothing and only delays the answers.
const (
	maxGroupRecords = 1024
	maxGroupBytes   = 1 << 20
)

// Views is what is shown of committed records. The writer calls Prepare, Forget,
// Begin, Show and End in the order of the records, and waits for each.
type Views interface {
	// Prepare returns rows that are to be stored with these records.
	Prepare(records []*core.Record) ([]core.Row, error)
	// Forget takes back what Prepare has noted of records that were not committed.
	Forget()
	// Begin and End enclose the records of one group.
	Begin()
	End()
	// Show shows a record and returns scopes with those added that have something new.
	Show(r *core.Record, facts []core.Fact, scopes []core.Scope) []core.Scope
	// Rebuilt shows the state of an owner that was rebuilt, and the rows that were
	// derived for it: those that are shown already change nothing.
	Rebuilt(k core.Owner, state core.Machine, rows []core.Row)
	// Live reports whether an agent has a live session.
	Live(agent hub.AgentID) bool
	// Restore takes a section of a checkpoint that snapshot has made, and replay a
	// fact behind it; started is called once with all states, before the first turn.
	Restore(s core.Section) error
	Replay(f core.Fact, at core.Position)
	Started(head core.Head, now hub.Time, states map[core.Owner]core.Machine) []core.SessionProof
	// Snapshot returns the sessions for a checkpoint, and how far they go.
	Snapshot() (core.Section, core.Head, error)
	// Timed reports whether anything that is shown has a deadline: then it is worth a
	// checkpoint that time passes.
	Timed() bool
	// ShownUpTo returns the last record that is shown.
	ShownUpTo() hub.Seq
}

// subscriber learns of each committed record, on the writer's goroutine.
type subscriber = func(r *core.Record, facts []core.Fact)

// writer makes what is pending durable, group by group, and only then lets
// anybody see it (DESIGN, the one idea): views, then answers, then bells.
//
// It is fail-stop: after a commit that did not succeed the outcome is unknown,
// every answer is store_failed, and the hub ends. A full disk is not such an end:
// the journal refuses a group before it writes any of it, and the group is taken
// back.
type writer struct {
	seq     *sequencer
	journal core.Journal
	view    Views
	// subscribers see each committed record after the views. They do not wait.
	subscribers []subscriber
	notifier    interface{ Add(scopes []core.Scope) }
	log         *slog.Logger
	clock       *clock
	failed      func(error) // called once
	// withdrawn is told which owners have to load their state anew. It must not
	// wait: a turn may wait for the writer.
	withdrawn func(map[*Owner]struct{})
	step      func(Step)

	slots  []*slot
	scopes []core.Scope
	Done   chan struct{}
}

// serve commits until stop is closed and nothing is pending.
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

// drain commits all that is ready; false after a failure.
func (w *writer) drain() bool {
	for {
		w.slots = w.seq.take(w.slots[:0], maxGroupRecords, maxGroupBytes)
		if len(w.slots) == 0 {
			return true
		}
		switch err := w.commit(w.slots); {
		case errors.Is(err, core.ErrNoRoom):
			w.withdraw()
		case err != nil:
			w.fail(err)
			return false
		}
		clear(w.slots)
	}
}

func (w *writer) commit(slots []*slot) error {
	group := &core.Group{Records: make([]*core.Record, 0, len(slots))}
	for _, s := range slots {
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
	for _, s := range slots {
		if s.record != nil {
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
	for _, s := range slots {
		if s.deliver != nil {
			s.deliver(nil)
		}
	}
	w.step(StepAnswered)
	w.notifier.Add(w.scopes)
	return nil
}

// withdraw takes back what the disk has no room for, and all that was decided
// after it. Every caller is told that nothing was written, and may repeat the call.
func (w *writer) withdraw() {
	w.view.Forget()
	left, again, owners := w.seq.withdraw(w.slots)
	for _, s := range again { // its end was shown while it did not count
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

// fail answers all that is under way and stops the hub. The log line names the
// operation only: the store's own texts may hold message bodies.
func (w *writer) fail(cause error) {
	w.log.LogAttrs(context.Background(), slog.LevelError, "journal commit failed; stopping", slog.String("error", fmt.Sprint(cause)))
	answer := errStoreFailed()
	left := w.seq.fail(answer)
	for _, s := range w.slots {
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
