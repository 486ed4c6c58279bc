package core

import (
	"fmt"

	"hubcli/hub"
)

// StoredSeat is an agent's place in a room, as stored. A row without a value
// says that the agent no longer has a seat there.
type StoredSeat struct {
	SeatID   hub.SeatID   `json:"seat_id"`
	RoomID   hub.RoomID   `json:"room_id"`
	AgentID  hub.AgentID  `json:"agent_id"`
	Role     string       `json:"role,omitempty"`
	Harness  string       `json:"harness,omitempty"`
	InviteID hub.InviteID `json:"invite_id,omitempty"` // by which it joined
	SpawnID  hub.SpawnID  `json:"spawn_id,omitempty"`  // for which it was made
	JoinedAt hub.Time     `json:"joined_at"`
}

// SeatTaken says that the agent has a seat in the room from now on.
type SeatTaken struct {
	Agent   hub.AgentID  `json:"agent"`
	Role    string       `json:"role,omitempty"`
	Harness string       `json:"harness,omitempty"`
	Invite  hub.InviteID `json:"invite,omitempty"`
	Spawn   hub.SpawnID  `json:"spawn,omitempty"`
	// After is the record with which the agent acted in the room, if the seat
	// was given for that.
	After hub.Seq `json:"after,omitempty"`
}

// SeatMoved renames the seat of From to Seat.AgentID. It carries the whole
// seat, so applying it twice has the same effect as once.
type SeatMoved struct {
	From hub.AgentID `json:"from"`
	Seat StoredSeat  `json:"seat"`
}

// SeatFreed says that the agent no longer has this seat. Either another agent
// needed the place, or the agent got the seat by acting in the room and is long
// gone or has joined.
type SeatFreed struct {
	Agent hub.AgentID `json:"agent"`
	Seat  hub.SeatID  `json:"seat"`
}

// FactType implements Fact.
func (*SeatTaken) FactType() FactType { return factSeatTaken }

// FactType implements Fact.
func (*SeatMoved) FactType() FactType { return factSeatMoved }

// FactType implements Fact.
func (*SeatFreed) FactType() FactType { return factSeatFreed }

// seat returns the seat that the fact creates at a position.
func (f *SeatTaken) seat(room hub.RoomID, at Position) StoredSeat {
	return StoredSeat{
		SeatID: hub.SeatID(IDAt(PrefixSeat, at.Seq)), RoomID: room, AgentID: f.Agent,
		Role: f.Role, Harness: f.Harness, InviteID: f.Invite, SpawnID: f.Spawn, JoinedAt: at.Now.Wall,
	}
}

// Acting reports whether the seat was given for acting in the room. An agent
// that has joined came by an invite or a spawn, and only such a seat has a
// role.
func (s *StoredSeat) Acting() bool { return s.InviteID == "" && s.SpawnID == "" && s.Role == "" }

// SeatKey is the key of an agent's seat in a room. Without an agent it is the
// prefix of all seats of the room.
func SeatKey(room hub.RoomID, agent hub.AgentID) []byte { return OwnedKey(room, []byte(agent)) }

// SeatByAgentKey is the key of a seat in the list of its agent's seats, in the
// order of joining. With an empty seat it is the prefix of the list.
func SeatByAgentKey(agent hub.AgentID, seat hub.SeatID) []byte {
	key := append([]byte(agent), 0)
	if seq, ok := SeqOf(PrefixSeat, string(seat)); ok {
		key = append(key, SeqKey(seq)...)
	}
	return key
}

// sit adds a seat to the state and writes its rows. The list of an agent's
// rooms holds those that it has joined, not those in which it only acts.
func (r *Room) sit(s StoredSeat, rows RowSink) {
	r.seats[s.AgentID] = s
	rows.Put(TableSeat, SeatKey(r.id, s.AgentID), mustJSON(s))
	if s.Acting() {
		return
	}
	rows.Put(TableSeatByAgent, SeatByAgentKey(s.AgentID, s.SeatID), []byte(r.id))
}

// move applies SeatMoved.
func (r *Room) move(f *SeatMoved, rows RowSink) {
	delete(r.seats, f.From)
	rows.Put(TableSeat, SeatKey(r.id, f.From), nil)
	rows.Put(TableSeatByAgent, SeatByAgentKey(f.From, f.Seat.SeatID), nil)
	r.sit(f.Seat, rows)
}

// free applies SeatFreed.
func (r *Room) free(f *SeatFreed, rows RowSink) {
	seat := r.seats[f.Agent]
	if seat.SeatID != f.Seat || !seat.Acting() {
		rows.Put(TableSeatByAgent, SeatByAgentKey(f.Agent, f.Seat), nil)
	}
	if seat.SeatID == f.Seat {
		delete(r.seats, f.Agent)
		rows.Put(TableSeat, SeatKey(r.id, f.Agent), nil)
	}
}

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
	return r.oldestGone(gone, now)
}

// oldestGone returns the oldest seat whose agent is gone. If the clock was set
// back, a seat may stay a little longer.
func (r *Room) oldestGone(gone func(hub.AgentID) bool, now Now) (first StoredSeat, ok bool) {
	for _, s := range r.seats {
		if now.Wall-s.JoinedAt < seatSettles || ok && !madeBefore(s, first) || !gone(s.AgentID) {
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
		return Decision[StoredSeat]{Answer: func(Position) StoredSeat { return before }}, nil
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
