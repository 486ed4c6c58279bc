package engine

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// slot is one place in the order of the journal: a record, or only an answer
// that waits for all records before it.
type slot struct {
	record  *core.Record      // nil: a barrier
	facts   []core.Fact       // the record's, for the views
	bytes   int               // of the record, roughly, for the group's cap
	deliver func(error)       // answers; called once, by the writer, must not block
	owner   *Owner            // who decided the record; nil: a barrier
	begins  core.SessionProof // that the record starts; zero: none

	// Guarded by sequencer.mu.
	ready     bool
	before    sessionBefore // what was known of the agent's sessions before begins
	withdrawn error         // the slot was taken back: what its caller is told
}

// sessionBefore is what the sequencer knew of an agent before it began a session.
type sessionBefore struct {
	incarnation uint64 // 0: it had no session
	ended       int64  // when that had ended, hub time
	over        bool   // it had ended
}

// sequencer gives records their numbers, one lock for all. What passes it is in
// the order of the journal for good.
//
// Invariants:
//  1. Sequence numbers, message ids and fences rise without a gap in the order
//     of pending.
//  2. A slot leaves pending only from the front and only when it is ready, so
//     commit order is number order.
//  3. After a failure nothing is numbered any more.
//  4. What is taken back is taken back with all that was numbered after it, and
//     with every answer that waits for it. A turn that began before decides on
//     a state that is gone: its epoch is over, and it is refused.
type sequencer struct {
	mu      sync.Mutex
	head    core.Head // highest numbers given out
	pending []*slot
	durable core.Head // highest numbers that are durable, visible and being answered
	failed  error
	epoch   atomic.Uint64 // how often numbers were taken back; changed under mu
	// Incarnations holds the session of each live agent, so that a write of a
	// displaced session is refused even if it raced past every other check.
	Incarnations map[hub.AgentID]uint64
	// Ended says when the sessions of agents that have none now ended, hub time:
	// their entries stay until no write of a session before can be under way.
	Ended map[hub.AgentID]int64

	wake chan struct{} // to the writer; capacity 1
}

func newSequencer(head core.Head) *sequencer {
	return &sequencer{
		head: head, durable: head,
		Incarnations: map[hub.AgentID]uint64{}, Ended: map[hub.AgentID]int64{}, wake: make(chan struct{}, 1),
	}
}

// reserve numbers the record of s, which has that many messages and fences and was
// decided in that epoch. proof is refused with session_replaced if its agent has a
// later session. After a nil error the caller must make s ready, whatever happens:
// the writer waits for it.
func (q *sequencer) reserve(s *slot, epoch uint64, now core.Now, messages, fences int, proof core.SessionProof) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.failed != nil:
		return q.failed
	case epoch != q.epoch.Load():
		return errWithdrawn()
	}
	if proof.Incarnation != 0 && q.Incarnations[proof.Agent] > proof.Incarnation {
		return ErrSessionReplaced(proof.Agent)
	}
	if b := s.begins; b.Incarnation != 0 {
		s.before.incarnation = q.Incarnations[b.Agent]
		s.before.ended, s.before.over = q.Ended[b.Agent]
		q.Incarnations[b.Agent] = b.Incarnation
		delete(q.Ended, b.Agent)
	}
	r := s.record
	q.head.Seq++
	r.Seq, r.HubMS, r.Wall = q.head.Seq, now.HubMS, now.Wall
	r.FirstMessage, r.MessageCount = q.head.Message+1, messages
	r.FirstFence, r.FenceCount = q.head.Fence+1, fences
	q.head.Message += hub.MessageID(messages)
	q.head.Fence += hub.Fence(fences)
	q.head.HubMS = max(q.head.HubMS, now.HubMS)
	q.pending = append(q.pending, s)
	return nil
}

// publish makes a reserved slot ready for the writer. If it was taken back
// meanwhile, or after a failure, the writer knows nothing of it and the slot is
// answered here.
func (q *sequencer) publish(s *slot) {
	q.mu.Lock()
	if failed := cmp.Or(s.withdrawn, q.failed); failed != nil {
		q.mu.Unlock()
		if s.deliver != nil {
			s.deliver(failed)
		}
		return
	}
	s.ready = true
	first := len(q.pending) > 0 && q.pending[0].ready
	q.mu.Unlock()
	if first {
		q.ring()
	}
}

// after delivers an answer once everything up to seq is durable, which may be
// now and on this goroutine. epoch is that of the turn that gives the answer: if
// numbers were taken back since, the answer may rest on them.
func (q *sequencer) after(epoch uint64, seq hub.Seq, deliver func(error)) {
	q.mu.Lock()
	failed := q.failed
	if failed == nil && epoch != q.epoch.Load() {
		failed = errWithdrawn()
	}
	if q.durable.Seq >= seq || failed != nil {
		q.mu.Unlock()
		deliver(failed)
		return
	}
	q.pending = append(q.pending, &slot{ready: true, deliver: deliver})
	q.mu.Unlock()
	q.ring()
}

func (q *sequencer) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take moves the ready front of pending to into, up to the caps of one group.
func (q *sequencer) take(into []*slot, maxRecords, maxBytes int) []*slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.pending) && q.pending[n].ready && n < maxRecords {
		if bytes += q.pending[n].bytes; bytes > maxBytes && n > 0 {
			break
		}
		n++
	}
	into = append(into, q.pending[:n]...)
	rest := copy(q.pending, q.pending[n:])
	clear(q.pending[rest:])
	q.pending = q.pending[:rest]
	return into
}

// DurableSeq returns the highest number that is durable.
func (q *sequencer) DurableSeq() hub.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.durable.Seq
}

// committed moves durable forward, to the end of r.
func (q *sequencer) committed(r *core.Record) {
	q.mu.Lock()
	q.durable.Seq = r.Seq
	q.durable.Message = r.FirstMessage + hub.MessageID(r.MessageCount) - 1
	q.durable.Fence = r.FirstFence + hub.Fence(r.FenceCount) - 1
	q.mu.Unlock()
}

// withdraw takes back every number above what is durable: of the slots that the
// writer has taken, none of which was written, and of all that are pending. Their
// owners load their state anew before they decide again. It returns the slots
// that are to be answered (the others are answered when they are published), the
// sessions that count again, which may have ended meanwhile, and the owners.
func (q *sequencer) withdraw(taken []*slot) (left []*slot, again []core.SessionProof, owners map[*Owner]struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left = append(slices.Clone(taken), q.pending...)
	why := errWithdrawn()
	owners = map[*Owner]struct{}{}
	for _, s := range slices.Backward(left) {
		s.withdrawn = why
		if s.owner != nil {
			owners[s.owner] = struct{}{}
			s.owner.Withdrawn.Store(true) // before the epoch: see owner.prepare
		}
		if agent := s.begins.Agent; s.begins.Incarnation != 0 {
			if s.before.incarnation == 0 {
				delete(q.Incarnations, agent)
			} else {
				q.Incarnations[agent] = s.before.incarnation
				again = append(again, core.SessionProof{Agent: agent, Incarnation: s.before.incarnation})
			}
			if s.before.over {
				q.Ended[agent] = s.before.ended
			}
		}
	}
	q.pending = nil
	q.head.Seq, q.head.Message, q.head.Fence = q.durable.Seq, q.durable.Message, q.durable.Fence
	q.epoch.Add(1)
	return slices.DeleteFunc(left, func(s *slot) bool { return !s.ready }), again, owners
}

// fail ends the numbering and returns what nobody will commit. Slots that are
// not ready yet are left out: their owners still write to them, and find out when
// they publish.
func (q *sequencer) fail(err error) []*slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil {
		q.failed = err
	}
	left := slices.DeleteFunc(q.pending, func(s *slot) bool { return !s.ready })
	q.pending = nil
	return left
}

// SessionEnded notes that a session ended then.
func (q *sequencer) SessionEnded(s core.SessionProof, hubMS int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.Incarnations[s.Agent] == s.Incarnation {
		q.Ended[s.Agent] = hubMS
	}
}

// ForgetEnded drops the incarnations of agents whose sessions ended before then.
func (q *sequencer) ForgetEnded(before int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for agent, at := range q.Ended {
		if at < before {
			delete(q.Ended, agent)
			delete(q.Incarnations, agent)
		}
	}
}

// Given returns the highest number that was given out.
func (q *sequencer) Given() hub.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head.Seq
}

// ErrSessionReplaced is the answer to a session that a later one of its agent has displaced.
func ErrSessionReplaced(agent hub.AgentID) error {
	return hub.Errorf(hub.CodeSessionReplaced, "another session of agent %s has replaced this one", agent).
		WithFix("stop using this core.SessionProof; register under another agent id to go on")
}

// errWithdrawn is the answer of what was decided and then taken back.
func errWithdrawn() error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the store is full; nothing of this call was written").
		WithFix("free space on the disk and repeat the call; the hub goes on by itself")
}
