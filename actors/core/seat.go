package core

import (
	"slices"

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
	JoinedAt hub.Time     `json:"joined_at"`
}

// SeatKey is the key of an agent's seat in a room, and with no agent the prefix
// of all seats of the room.
func SeatKey(room hub.RoomID, agent hub.AgentID) []byte { return RoomKey(room, []byte(agent)) }

// RoomKey is the key of a thing of a room: the room's id, 0, what tells it from
// others; with nothing behind it the prefix of all.
func RoomKey(room hub.RoomID, rest []byte) []byte {
	return slices.Concat([]byte(room), []byte{0}, rest)
}

// SeatByAgentKey is the key of a seat among those of its agent, in the order of
// joining; with seat "" it is the prefix of all.
func SeatByAgentKey(agent hub.AgentID, seat hub.SeatID) []byte {
	key := append([]byte(agent), 0)
	if seq, ok := SeqOf(PrefixSeat, string(seat)); ok {
		key = append(key, SeqKey(seq)...)
	}
	return key
}
