package view

import (
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// What an agent has to read of a channel begins where it registered first; of one that was
// spawned or invited, where it got its seat, if that was before. Older messages are history. Its
// inbox begins with the first message: somebody may write to an agent before it is there.

// beginnings remembers where agents begin to read.
type beginnings struct {
	mu        sync.Mutex
	of        *bounded.Map[hub.AgentID, beginning]
	forgotten uint64 // how often an agent was forgotten
}

type beginning struct {
	since hub.Time      // 0: not known
	id    hub.MessageID // the last message before that
}

// mostBeginnings bounds the agents for which a beginning is remembered.
const mostBeginnings = 16_384

func newBeginnings() *beginnings {
	return &beginnings{of: bounded.New[hub.AgentID, beginning](mostBeginnings)}
}

// Begins returns since when an agent reads, and the last message before that. since is 0 for one
// that never registered, or did so before the hub noted it.
func (v *View) Begins(agent hub.AgentID) (since hub.Time, before hub.MessageID) {
	of := v.beginnings
	of.mu.Lock()
	b, known := of.of.Get(agent)
	forgotten := of.forgotten
	of.mu.Unlock()
	if known {
		return b.since, b.id
	}
	b, err := v.beginning(agent) // without the lock: what is committed is shown meanwhile
	if err != nil {
		return 0, 0 // the agent reads too much rather than too little
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.forgotten == forgotten { // else the agent may have registered meanwhile
		of.of.Put(agent, b)
	}
	return b.since, b.id
}

func (v *View) beginning(agent hub.AgentID) (b beginning, err error) {
	row, err := v.AgentRow(agent)
	if err != nil || row == nil || row.Since == 0 {
		return b, err
	}
	b.since = row.Since
	rooms, err := v.RoomsOf(agent)
	if err != nil {
		return b, err
	}
	for _, room := range rooms {
		if seat, err := v.SeatOf(room, agent); err == nil {
			b.since = min(b.since, seat.JoinedAt)
		}
	}
	b.id, err = v.lastBefore(b.since)
	return b, err
}

// forget drops what is remembered of an agent that registers or gets a seat.
func (b *beginnings) forget(agent hub.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgotten++
	b.of.Delete(agent)
}

// lastBefore returns the id of the last message from before a time, 0 if there is none.
func (v *View) lastBefore(at hub.Time) (hub.MessageID, error) {
	low, high := hub.MessageID(0), v.Ring.Visible() // the message is among low to high
	for low < high {
		mid := low + (high-low+1)/2
		first, ts := hub.MessageID(0), hub.Time(0)
		err := v.rows.Messages(core.Scope{Kind: core.ScopeAll}, mid-1, high, false, func(m *core.StoredMessage) bool {
			first, ts = m.ID, m.TS
			return false
		})
		switch {
		case err != nil:
			return 0, err
		case first != 0 && ts < at:
			low = first
		default:
			high = mid - 1
		}
	}
	return low, nil
}

// ReadsFrom returns the id behind which an agent goes on to read a room and its inbox: all that
// is unread is above it. An empty room is all that is public.
func (v *View) ReadsFrom(u *UnreadIn, room hub.RoomID) (hub.MessageID, error) {
	from := u.Head
	scopes, since := u.Scopes(room)
	for i := range scopes {
		at := u.Head
		err := v.Later(scopes[i], since[i], u.Head, func(m *core.StoredMessage) bool {
			if u.Keeps(m) {
				at = m.ID - 1
			}
			return at == u.Head
		})
		if err != nil {
			return 0, err
		}
		if at == u.Head && u.Head-since[i] > MaxExamined { // the look may have ended before the first of them
			at = since[i]
		}
		from = min(from, at)
	}
	return from, nil
}
