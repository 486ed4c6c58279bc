package core

import (
	"fmt"

	"hubcli/hub"
)

// seatSettles protects the new seat of an agent without a session: the agent
// may be about to register.
const seatSettles = 60_000 // milliseconds

// makesRoom returns the seat that is freed when an agent joins a full room.
// First choice is the oldest seat given for acting, even if its agent is
// present: the agent gets a seat again when it acts again. Second choice is the
// oldest seat of an agent that has joined and is gone.
func (r *Room) makesRoom(gone func(hub.AgentID) bool, now Now) (first StoredSeat, ok bool) {
	for _, s := range r.seats {
		if s.Acting() && (!ok || madeBefore(s, first)) {
			first, ok = s, true
		}
	}
	if ok {
		return first, true
	}
	return r.oldestGone(gone, now, func(*StoredSeat) bool { return true })
}

// oldestGone returns the oldest seat of those that of keeps whose agent is gone. If the
// clock was set back, a seat may stay a little longer.
func (r *Room) oldestGone(gone func(hub.AgentID) bool, now Now, of func(*StoredSeat) bool) (first StoredSeat, ok bool) {
	for _, s := range r.seats {
		if !of(&s) || now.Wall-s.JoinedAt < seatSettles || ok && !madeBefore(s, first) || !gone(s.AgentID) {
			continue
		}
		first, ok = s, true
	}
	return first, ok
}

func madeBefore(a, b StoredSeat) bool {
	x, _ := SeqOf(PrefixSeat, string(a.SeatID))
	y, _ := SeqOf(PrefixSeat, string(b.SeatID))
	return x < y
}

// SeatCommand asks for the seat of a spawned agent.
type SeatCommand struct {
	Spawn hub.Spawn
	// Gone reports whether an agent has no live session.
	Gone func(hub.AgentID) bool
}

// SeatSpawn decides the seat of a spawned agent. A seat that it has for this
// spawn stays; an earlier seat is replaced. Error: room_full.
func (r *Room) SeatSpawn(c SeatCommand, now Now) (Decision[StoredSeat], error) {
	row := &c.Spawn
	before, seated := r.seats[row.AgentID]
	var facts []Fact
	switch {
	case seated && before.SpawnID == row.SpawnID:
		return answering(before), nil
	case seated:
		facts = append(facts, &SeatFreed{Agent: before.AgentID, Seat: before.SeatID})
	case len(r.seats) >= hub.MaxRoomSeats:
		oldest, ok := r.makesRoom(c.Gone, now)
		if !ok {
			return Decision[StoredSeat]{}, errRoomFull("seats", hub.MaxRoomSeats)
		}
		facts = append(facts, &SeatFreed{Agent: oldest.AgentID, Seat: oldest.SeatID})
	}
	fact := &SeatTaken{Agent: row.AgentID, Role: row.Role, Harness: string(row.Harness), Spawn: row.SpawnID}
	notice := r.tells(TaskActor{}, hub.KindNotice)
	notice.Body = string(row.AgentID) + " is started by " + string(row.By)
	if fact.Role != "" {
		notice.Body += fmt.Sprintf(" as %q", fact.Role) // text of an agent; quoting keeps it on one line
	}
	notice.Numbered = func(m *MessageDraft, at Position) {
		m.Metadata = mustJSON(map[string]string{"seat": IDAt(PrefixSeat, at.Seq), "spawn_id": string(row.SpawnID)})
	}
	return Decision[StoredSeat]{
		Draft:  Draft{Facts: append(facts, fact), Messages: []MessageDraft{notice}},
		Answer: func(at Position) StoredSeat { return fact.seat(r.id, at) },
	}, nil
}
