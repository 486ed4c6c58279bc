package actors

import (
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// slot is one place in the order of the journal: a record, or only an answer
// that waits for all records before it.
type slot struct {
	record  *core.Record // nil: a barrier
	facts   []core.Fact  // the record's, for the views
	bytes   int          // of the record, roughly, for the group's cap
	ready   bool         // guarded by sequencer.mu
	deliver func(error)  // answers; called once, by the writer, must not block
}

// session is the proof that a command came with, and the one that it starts.
type session struct {
	agent       hub.AgentID
	incarnation uint64
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
type sequencer struct {
	mu      sync.Mutex
	head    core.Head // highest numbers given out
	pending []*slot
	durable hub.Seq // highest number that is durable, visible and being answered
	failed  error
	// incarnations holds the session of each live agent, so that a write of a
	// displaced session is refused even if it raced past every other check.
	incarnations map[hub.AgentID]uint64
	// ended says when the sessions of agents that have none now ended, hub time:
	// their entries stay until no write of a session before can be under way.
	ended map[hub.AgentID]int64

	wake chan struct{} // to the writer; capacity 1
}

func newSequencer(head core.Head) *sequencer {
	return &sequencer{
		head: head, durable: head.Seq,
		incarnations: map[hub.AgentID]uint64{}, ended: map[hub.AgentID]int64{}, wake: make(chan struct{}, 1),
	}
}

// reserve numbers the record of s, which has that many messages and fences.
// proof is refused with session_replaced if its agent has a later session;
// begins, if set, is the session that the record starts. After a nil error the
// caller must make s ready, whatever happens: the writer waits for it.
func (q *sequencer) reserve(s *slot, now core.Now, messages, fences int, proof, begins session) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil {
		return q.failed
	}
	if proof.incarnation != 0 && q.incarnations[proof.agent] > proof.incarnation {
		return errSessionReplaced(proof.agent)
	}
	if begins.incarnation != 0 {
		q.incarnations[begins.agent] = begins.incarnation
		delete(q.ended, begins.agent)
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

// publish makes a reserved slot ready for the writer. After a failure there is
// none, and the slot is answered here.
func (q *sequencer) publish(s *slot) {
	q.mu.Lock()
	if failed := q.failed; failed != nil {
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
// now and on this goroutine.
func (q *sequencer) after(seq hub.Seq, deliver func(error)) {
	q.mu.Lock()
	if q.durable >= seq || q.failed != nil {
		failed := q.failed
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

// durableSeq returns the highest number that is durable.
func (q *sequencer) durableSeq() hub.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.durable
}

// committed moves durable forward.
func (q *sequencer) committed(seq hub.Seq) {
	q.mu.Lock()
	q.durable = max(q.durable, seq)
	q.mu.Unlock()
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

// sessionEnded notes that the agent has no live session since then.
func (q *sequencer) sessionEnded(agent hub.AgentID, incarnation uint64, hubMS int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.incarnations[agent] == incarnation {
		q.ended[agent] = hubMS
	}
}

// forgetEnded drops the incarnations of agents whose sessions ended before then.
func (q *sequencer) forgetEnded(before int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for agent, at := range q.ended {
		if at < before {
			delete(q.ended, agent)
			delete(q.incarnations, agent)
		}
	}
}

// given returns the highest number that was given out.
func (q *sequencer) given() hub.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head.Seq
}

func errSessionReplaced(agent hub.AgentID) error {
	return hub.Errorf(hub.CodeSessionReplaced, "another session of agent %s has replaced this one", agent).
		WithFix("stop using this session; register under another agent id to go on")
}
