package core

import (
	"fmt"

	"hubcli/hub"
)

// StoredSeat is an agent's place in a room, as stored. A row without a value says
// that the agent has no seat there any more.
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
	// After is the record with which the agent had acted in the room, of a seat that
	// was given for that.
	After hub.Seq `json:"after,omitempty"`
}

// SeatMoved gives the seat of From another name: Seat.AgentID. It carries the
// whole seat, so that applying it twice changes nothing more.
type SeatMoved struct {
	From hub.AgentID `json:"from"`
	Seat StoredSeat  `json:"seat"`
}

// SeatFreed says that the agent has this seat no more: another needed the room, or
// it was given for what the agent did, and the agent is long gone or has joined.
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

// seat returns what the fact makes at a position.
func (f *SeatTaken) seat(room hub.RoomID, at Position) StoredSeat {
	return StoredSeat{
		SeatID: hub.SeatID(IDAt(PrefixSeat, at.Seq)), RoomID: room, AgentID: f.Agent,
		Role: f.Role, Harness: f.Harness, InviteID: f.Invite, SpawnID: f.Spawn, JoinedAt: at.Now.Wall,
	}
}

// Acting reports whether the seat was given for what its agent does in the room. Who
// has joined has come by an invite or a spawn; the hub gives nobody a seat with a
// role otherwise.
func (s *StoredSeat) Acting() bool { return s.InviteID == "" && s.SpawnID == "" && s.Role == "" }

// SeatKey is the key of an agent's seat in a room, and with no agent the prefix
// of all seats of the room.
func SeatKey(room hub.RoomID, agent hub.AgentID) []byte { return OwnedKey(room, []byte(agent)) }

// SeatByAgentKey is the key of a seat among those of its agent, in the order of
// joining; with seat "" it is the prefix of all.
func SeatByAgentKey(agent hub.AgentID, seat hub.SeatID) []byte {
	key := append([]byte(agent), 0)
	if seq, ok := SeqOf(PrefixSeat, string(seat)); ok {
		key = append(key, SeqKey(seq)...)
	}
	return key
}

// sit puts a seat into the state and gives its rows. The rooms of an agent are those
// that it has joined: a seat for what it does is not listed there.
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

// seatSettles is how long a seat is not taken from an agent that has no session:
// it may be about to begin the one that it joins with.
const seatSettles = 60_000 // milliseconds

// makesRoom returns the seat that makes room in a full room for one that joins: of
// those that were given for what their agents do the oldest, whether or not it is
// there, for it comes back by itself; else the oldest of who has joined and is gone.
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

// oldestGone returns the seat that was made first among those whose agents are
// gone. A clock that was set back may keep a seat a little longer.
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
	// Gone says whether an agent has no live session.
	Gone func(hub.AgentID) bool
}

// SeatSpawn decides the seat of a spawned agent; the one that it has for this spawn
// stays, one from before makes way. room_full.
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
		notice.Body += fmt.Sprintf(" as %q", fact.Role) // an agent's text, which stays one line
	}
	notice.Numbered = func(m *MessageDraft, at Position) {
		m.Metadata = mustJSON(map[string]string{"seat": IDAt(PrefixSeat, at.Seq), "spawn_id": string(row.SpawnID)})
	}
	return Decision[StoredSeat]{
		Draft:  Draft{Facts: append(facts, fact), Messages: []MessageDraft{notice}},
		Answer: func(at Position) StoredSeat { return fact.seat(r.id, at) },
	}, nil
}
