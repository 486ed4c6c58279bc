package core

import (
	"slices"

	"hubcli/hub"
)

// ActingCommand asks for the seat of an agent that acted in the room without
// having joined it.
type ActingCommand struct {
	Agent   hub.AgentID
	Harness string
	After   hub.Seq // the record with which it acted; 0: the call itself is the act
	// LongGone reports whether an agent has been gone for so long that no page
	// shows it.
	LongGone func(hub.AgentID) bool
	By       Standing // of the agent, as far as the hub knows it without a proof
}

// mostFreed bounds the seats that one record frees.
const mostFreed = 64

// SeatActing decides the seat of an agent that acts in the room. A seat that it
// already has stays. The same record frees such seats of agents that are long
// gone, oldest first, so that their number stays near the number of agents
// present. In a full room no other seat is freed for it. Errors: room_full;
// ErrNotLive if the agent is long gone itself.
func (r *Room) SeatActing(c ActingCommand, now Now) (Decision[StoredSeat], error) {
	if seat, ok := r.seats[c.Agent]; ok {
		return answering(seat), nil
	}
	if c.LongGone(c.Agent) {
		return Decision[StoredSeat]{}, ErrNotLive
	}
	facts := r.freeLongGone(c.LongGone, now)
	if err := seatShare.Refuse(c.By, Holding{Creator: c.Agent, All: len(r.seats) - len(facts)}); err != nil {
		return Decision[StoredSeat]{}, err
	}
	fact := &SeatTaken{Agent: c.Agent, Harness: c.Harness, After: c.After}
	return Decision[StoredSeat]{
		Draft:  Draft{Facts: append(facts, fact)},
		Answer: func(at Position) StoredSeat { return fact.seat(r.id, at) },
	}, nil
}

// freeLongGone returns the facts that free the seats of agents that are long
// gone.
func (r *Room) freeLongGone(longGone func(hub.AgentID) bool, now Now) []Fact {
	var old []StoredSeat
	for _, s := range r.seats {
		if s.Acting() && now.Wall-s.JoinedAt >= seatSettles && longGone(s.AgentID) {
			old = append(old, s)
		}
	}
	slices.SortFunc(old, func(a, b StoredSeat) int {
		if madeBefore(a, b) {
			return -1
		}
		return 1
	})
	facts := make([]Fact, 0, min(len(old), mostFreed)+1)
	for _, s := range old[:min(len(old), mostFreed)] {
		facts = append(facts, &SeatFreed{Agent: s.AgentID, Seat: s.SeatID})
	}
	return facts
}
