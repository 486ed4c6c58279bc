package view

import (
	"context"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Answered knows which answers of the operator agents have been shown, as long as an answer may
// be taken back, and which were taken back.
//
// Invariants:
//  1. An answer that is taken back was shown to no agent, and none is shown it later. HandOut is
//     asked before a row with an answer leaves the hub. While an answer is being taken back,
//     HandOut waits until that is decided.
//  2. An answer of an earlier process is taken back by none: it is not known who was shown it.
//
// What readers get of an answer that was taken back is a message of the operator to themselves,
// so hub.Visible and hub.Delivered keep it from all agents.
type Answered struct {
	mu    sync.Mutex
	fresh map[hub.MessageID]*freshAnswer
	some  atomic.Int32 // answers in fresh, so that readers need no lock without one

	takenMu sync.RWMutex // never held while another lock is taken
	taken   map[hub.MessageID]struct{}
	count   atomic.Int32
}

// freshAnswer is an answer that may be taken back.
type freshAnswer struct {
	at     int64 // hub ms
	read   bool
	taking chan struct{} // closed when a call that takes it back is over; nil: none is under way
}

func newAnswered() *Answered {
	return &Answered{fresh: map[hub.MessageID]*freshAnswer{}, taken: map[hub.MessageID]struct{}{}}
}

// answered learns of the messages that tell an answer, before anybody can read them.
func (a *Answered) answered(messages []core.StoredMessage, hubMS int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, f := range a.fresh {
		if tooOld(f, hubMS) && f.taking == nil {
			delete(a.fresh, id)
		}
	}
	for i := range messages {
		a.fresh[messages[i].ID] = &freshAnswer{at: hubMS}
	}
	a.some.Store(int32(len(a.fresh)))
}

func tooOld(f *freshAnswer, hubMS int64) bool { return hubMS-f.at > hub.TakeBackFor.Milliseconds() }

// HandOut reports whether an agent may be shown a message, and notes that it was.
func (a *Answered) HandOut(id hub.MessageID) bool {
	if a.some.Load() == 0 {
		return !a.TakenBack(id)
	}
	a.mu.Lock()
	if f := a.settled(id); f != nil {
		f.read = true
	}
	a.mu.Unlock()
	return !a.TakenBack(id)
}

// settled returns an answer that may be taken back once no call is taking it back; nil: it is none.
// It is called with mu held, and gives mu up while it waits.
func (a *Answered) settled(id hub.MessageID) *freshAnswer {
	f := a.fresh[id]
	for f != nil && f.taking != nil {
		over := f.taking
		a.mu.Unlock()
		<-over
		a.mu.Lock()
		f = a.fresh[id]
	}
	return f
}

// TakenBack reports whether a message is an answer that was taken back.
func (a *Answered) TakenBack(id hub.MessageID) bool {
	if a.count.Load() == 0 {
		return false
	}
	a.takenMu.RLock()
	defer a.takenMu.RUnlock()
	_, taken := a.taken[id]
	return taken
}

// Begin begins to take an answer back: until end is called nobody is shown it. Errors:
// not_taken_back, limit_reached.
func (a *Answered) Begin(id hub.MessageID, hubMS int64, started int64) (end func(), err error) {
	if a.count.Load() >= hub.MaxTakenBack {
		return nil, hub.NewError(hub.CodeLimitReached, "this hub has taken back as many answers as it can know").With("limit", hub.MaxTakenBack)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.settled(id)
	switch {
	case f == nil && hubMS-started <= hub.TakeBackFor.Milliseconds():
		return nil, core.NotTakenBack(core.KeptUnknown, "the hub was started after the answer, and does not know whether it was read")
	case f == nil || tooOld(f, hubMS):
		return nil, core.NotTakenBack(core.KeptLate, "it is too late: an answer can be taken back for a minute")
	case f.read:
		return nil, core.NotTakenBack(core.KeptRead, "an agent has read the answer already")
	}
	f.taking = make(chan struct{})
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		close(f.taking)
		f.taking = nil
		if a.TakenBack(id) {
			delete(a.fresh, id)
			a.some.Store(int32(len(a.fresh)))
		}
	}, nil
}

// apply learns of an answer that was taken back, by its stored row.
func (a *Answered) apply(key []byte) {
	a.takenMu.Lock()
	defer a.takenMu.Unlock()
	a.taken[hub.MessageID(core.KeyEnd(key))] = struct{}{}
	a.count.Store(int32(len(a.taken)))
}

// readable returns the message as its readers get it.
func (a *Answered) readable(m *core.StoredMessage) *core.StoredMessage {
	if m.From != hub.AgentOperator || m.To == "" || !a.TakenBack(m.ID) {
		return m
	}
	kept := *m
	kept.To = hub.AgentOperator
	return &kept
}

// RestoreTakenBack takes the stored rows at a start.
func (v *View) RestoreTakenBack() error {
	return v.rows.RowsOf(core.TableTakenBack, nil, false, func(key, _ []byte) bool {
		v.Answered.apply(key)
		return true
	})
}

// HandsOut reports whether the reader of a call may be shown a message, and notes that it was.
// The operator is shown all, and what the operator reads keeps no answer from being taken back.
func (v *View) HandsOut(ctx context.Context, id hub.MessageID) bool {
	if c := hub.CallerOf(ctx); c.Operator || c.Peeks {
		return true
	}
	return v.Answered.HandOut(id)
}

// HandOut returns the rows that the reader of a call may be shown, and notes that they were.
func (v *View) HandOut(ctx context.Context, rows []*core.StoredMessage) []*core.StoredMessage {
	kept := rows[:0]
	for _, m := range rows {
		if m.From != hub.AgentOperator || m.To == "" || v.HandsOut(ctx, m.ID) {
			kept = append(kept, m)
		}
	}
	return kept
}

// ShownAsk returns a stored question as its reader is shown it: if its answer has just been
// taken back, it is open again.
func (v *View) ShownAsk(ctx context.Context, row core.StoredAsk) (core.StoredAsk, error) {
	if row.Ask.State != hub.AskAnswered || row.Ask.AnswerMessageID == nil || v.HandsOut(ctx, *row.Ask.AnswerMessageID) {
		return row, nil
	}
	key, ok := core.AskKey(row.Ask.AskID)
	if !ok {
		return row, hub.NewError(hub.CodeCorruptRecord, "a stored question has no id")
	}
	return StoredRow[core.StoredAsk](v.rows, core.TableAsk, key)
}

// rowsToRead are the rows of the store as readers get them.
type rowsToRead struct {
	core.Rows
	answers *Answered
}

// Message implements core.Rows.
func (r rowsToRead) Message(id hub.MessageID) (core.StoredMessage, error) {
	m, err := r.Rows.Message(id)
	if err != nil {
		return m, err
	}
	return *r.answers.readable(&m), nil
}

// Messages implements core.Rows.
func (r rowsToRead) Messages(scope core.Scope, after, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	return r.Rows.Messages(scope, after, upto, backward, func(m *core.StoredMessage) bool { return fn(r.answers.readable(m)) })
}
