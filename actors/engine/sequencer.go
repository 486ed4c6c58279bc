package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// entry is one place in the order of the journal: a record, a gap of an import, or a
// barrier. A barrier is an answer that waits for all records before it.
type entry struct {
	record  *core.Record      // nil: a barrier, or a gap
	gap     *gapEntry         // nil: a record, or a barrier
	facts   []core.Fact       // facts of the record, for the views
	bytes   int               // size of the record, roughly, for the group's cap
	deliver func(error)       // answers the caller; called once; must not block
	owner   *Owner            // the owner that decided the record; nil: a barrier
	begins  core.SessionProof // the session that the record starts; zero: none

	// Guarded by sequencer.mu.
	ready     bool
	before    sessionBefore // what withdraw restores when it takes begins back
	withdrawn error         // the error for the caller of a record that was taken back
}

// sessionBefore is the entry of an agent in incarnations and ended before a
// record started a session of the agent.
type sessionBefore struct {
	incarnation uint64 // 0: the agent had no session
	ended       int64  // hub time at which that session ended
	over        bool   // whether that session had ended
}

// sequencer gives records their numbers, under one lock. The order of the
// numbers is the order of the journal. The lock is held for a few assignments
// only: nobody encodes, applies or writes under it.
//
// Invariants:
//  1. Sequence numbers, message ids and fences rise in the order of pending, without a
//     gap but for those of imports, which stand in pending themselves.
//  2. An entry leaves pending only from the front and only when it is ready, so
//     commit order is number order. An entry that its owner still fills holds up
//     the ready ones behind it. That wait is short: the owner only applies facts
//     and encodes.
//  3. durable <= head. durable moves when a group is in the views, not when it is on
//     the disk: a caller that is answered at once must see the record.
//  4. After a failure nothing is numbered any more.
//  5. A withdrawal takes back every number above durable, and every answer that waits
//     for one of them. Then head == durable, and epoch rises. A turn that began in an
//     earlier epoch decided on a state that is gone, so reserve and after refuse it.
//  6. Each entry is delivered exactly once: by the writer, or by fail's caller, or by
//     publish if a withdrawal or a failure came while the owner filled the entry.
type sequencer struct {
	mu      sync.Mutex
	head    core.Head // highest numbers given out
	pending []*entry
	taken   []*entry  // what the writer took last: the group under way, or one that is done
	durable core.Head // highest numbers that are durable and visible
	failed  error
	epoch   atomic.Uint64 // number of withdrawals so far; changed under mu
	// incarnations holds the session of each live agent. reserve refuses a write of a
	// displaced session, even if the write passed every other check before the new
	// session began.
	incarnations map[hub.AgentID]uint64
	// ended holds the hub time at which the last session of an agent ended, for agents
	// without a live one. Their entries in incarnations stay until no write of an
	// earlier session can be under way.
	ended map[hub.AgentID]int64

	wake chan struct{} // wakes the writer; capacity 1
}

func newSequencer(head core.Head) *sequencer {
	return &sequencer{
		head: head, durable: head,
		incarnations: map[hub.AgentID]uint64{}, ended: map[hub.AgentID]int64{}, wake: make(chan struct{}, 1),
	}
}

// Sessions returns the sessions of the live agents, and how many entries are kept of
// agents whose last session has ended.
func (q *sequencer) Sessions() (live map[hub.AgentID]uint64, ended int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	live = maps.Clone(q.incarnations)
	maps.DeleteFunc(live, func(a hub.AgentID, _ uint64) bool { _, gone := q.ended[a]; return gone })
	return live, len(q.incarnations) - len(live)
}

// reserve numbers the record of s. epoch is the epoch of the turn that decided
// it; messages and fences say how many of them the record has. If the agent of
// proof has a later session, the error is session_replaced.
//
// After an error nothing has changed. After nil the caller must publish s, whatever
// happens: the writer waits for it.
func (q *sequencer) reserve(s *entry, epoch uint64, now core.Now, messages, fences int, proof core.SessionProof) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.failed != nil:
		return q.failed
	case epoch != q.epoch.Load():
		return errWithdrawn()
	}
	if proof.Incarnation != 0 && q.incarnations[proof.Agent] > proof.Incarnation {
		return ErrSessionReplaced(proof.Agent)
	}
	if b := s.begins; b.Incarnation != 0 {
		s.before.incarnation = q.incarnations[b.Agent]
		s.before.ended, s.before.over = q.ended[b.Agent]
		q.incarnations[b.Agent] = b.Incarnation
		delete(q.ended, b.Agent)
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

// publish makes a reserved entry ready for the writer. If the entry was taken back
// meanwhile, or the hub has failed, the writer does not have it any more, and publish
// answers it.
func (q *sequencer) publish(s *entry) {
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
		q.wakeWriter()
	}
}

// after delivers an answer once everything up to seq is durable. If it is
// durable already, after calls deliver on this goroutine. epoch is the epoch of
// the turn that gives the answer. If numbers were taken back since then, the
// answer may depend on them, and deliver gets an error.
//
// A barrier goes to the end of pending, even if its answer depends on an earlier
// record only. That keeps pending a plain queue; the answer waits for one group more
// at most, unless the queue is longer than a group.
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
	q.pending = append(q.pending, &entry{ready: true, deliver: deliver})
	q.mu.Unlock()
	q.wakeWriter()
}

// wakeWriter tells the writer to look at pending. A wake that is not taken yet is
// enough for any number of entries.
func (q *sequencer) wakeWriter() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take moves the ready entries at the front of pending to into, up to the caps of one
// group. One entry may be larger than maxBytes.
func (q *sequencer) take(into []*entry, maxRecords, maxBytes int) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.pending) && q.pending[n].ready && n < maxRecords {
		if q.pending[n].gap != nil { // alone in its group
			n = max(n, 1)
			break
		}
		if bytes += q.pending[n].bytes; bytes > maxBytes && n > 0 {
			break
		}
		n++
	}
	into = append(into, q.pending[:n]...)
	clear(q.taken)
	q.taken = append(q.taken[:0], into...)
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

// committed moves durable forward to the end of r, after r was shown.
func (q *sequencer) committed(r *core.Record) {
	q.mu.Lock()
	q.durable.Seq = r.Seq
	q.durable.Message = r.FirstMessage + hub.MessageID(r.MessageCount) - 1
	q.durable.Fence = r.FirstFence + hub.Fence(r.FenceCount) - 1
	q.mu.Unlock()
}

// withdraw takes back every number above durable: those of the entries that the
// writer has taken, none of which was written, and those of all pending
// entries. It goes backward, so that each agent gets the session from before
// the first of these entries. The owners load their state anew before they
// decide again.
//
// left are the ready entries; the writer answers them, and publish answers the
// others. again are the sessions that are current again; they may have ended
// meanwhile. owners are the owners of all these entries.
func (q *sequencer) withdraw(taken []*entry) (left []*entry, again []core.SessionProof, owners map[*Owner]struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left = append(slices.Clone(taken), q.pending...)
	why := errWithdrawn()
	owners = map[*Owner]struct{}{}
	for _, s := range slices.Backward(left) {
		s.withdrawn = why
		if s.owner != nil {
			owners[s.owner] = struct{}{}
			s.owner.Withdrawn.Store(true) // set before epoch rises; see Owner.prepare
		}
		if agent := s.begins.Agent; s.begins.Incarnation != 0 {
			if s.before.incarnation == 0 {
				delete(q.incarnations, agent)
			} else {
				q.incarnations[agent] = s.before.incarnation
				again = append(again, core.SessionProof{Agent: agent, Incarnation: s.before.incarnation})
			}
			if s.before.over {
				q.ended[agent] = s.before.ended
			}
		}
	}
	q.pending, q.taken = nil, nil
	q.head.Seq, q.head.Message, q.head.Fence = q.durable.Seq, q.durable.Message, q.durable.Fence
	q.epoch.Add(1)
	return slices.DeleteFunc(left, func(s *entry) bool { return !s.ready }), again, owners
}

// fail ends the numbering. It returns the ready entries, which nobody will commit any
// more, for the caller to answer. It leaves out entries that are not ready: their
// owners still write to them, and publish answers them.
func (q *sequencer) fail(err error) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed == nil {
		q.failed = err
	}
	left := slices.DeleteFunc(q.pending, func(s *entry) bool { return !s.ready })
	q.pending = nil
	return left
}

// SessionEnded notes that a session ended at hubMS.
func (q *sequencer) SessionEnded(s core.SessionProof, hubMS int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.incarnations[s.Agent] == s.Incarnation {
		q.ended[s.Agent] = hubMS
	}
}

// ForgetEnded drops the incarnations of agents whose sessions ended earlier
// than the hub time in before.
func (q *sequencer) ForgetEnded(before int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for agent, at := range q.ended {
		if at < before {
			delete(q.ended, agent)
			delete(q.incarnations, agent)
		}
	}
}

// Given returns the highest number that was given to a record.
func (q *sequencer) Given() hub.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head.Seq
}

// ErrSessionReplaced is the answer to a write of a session that a later session of the
// same agent has displaced.
func ErrSessionReplaced(agent hub.AgentID) error {
	return hub.Errorf(hub.CodeSessionReplaced, "another session of agent %s has replaced this one", agent).
		WithFix("stop using this session; register under another agent id to go on")
}

// errWithdrawn is the answer to a command whose record was taken back.
func errWithdrawn() error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the store is full; nothing of this call was written").
		WithFix("free space on the disk and repeat the call; the hub goes on by itself")
}
