package hub

import "context"

// MaxMutes bounds the mutes that are in force at once. MaxMuteSec bounds how long one may
// last that ends by itself: thirty days.
const (
	MaxMutes   = 1000
	MaxMuteSec = 30 * 24 * 3600
)

// MuteTarget says what the operator mutes: an agent everywhere, an agent in one room alone, or
// all agents in one room. At least one of the two is set.
type MuteTarget struct {
	AgentID AgentID `json:"agent_id"` // empty: all agents
	RoomID  RoomID  `json:"room_id"`  // empty: everywhere
}

// String names the target in a sentence.
func (t MuteTarget) String() string {
	switch {
	case t.AgentID == "":
		return "room " + string(t.RoomID)
	case t.RoomID != "":
		return "agent " + string(t.AgentID) + " in room " + string(t.RoomID)
	}
	return "agent " + string(t.AgentID)
}

// MuteInput mutes an agent, or all agents in a room. They read the reason when they post.
type MuteInput struct {
	AgentID AgentID `json:"agent_id,omitempty"`                              // Left out: all agents in the room.
	RoomID  RoomID  `json:"room_id,omitempty" bounds:"..MaxNameChars runes"` // Left out: everywhere.
	Reason  string  `json:"reason,omitempty" bounds:"..MaxPauseWords runes"` // An agent reads it with the answers to its posts.
	ForSec  int     `json:"for_sec,omitempty" bounds:"1..MaxMuteSec"`        // Left out: until the mute is ended.
	// Refuses an agent that never registered while ids like it are known (agent_unclear). For an id that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// MuteEndInput names the target of the mute that ends.
//
// API: An agent everywhere, an agent in one room alone, or all agents in one room.
type MuteEndInput struct {
	AgentID AgentID `json:"agent_id,omitempty"` // Left out: all agents in the room.
	RoomID  RoomID  `json:"room_id,omitempty" bounds:"name ..MaxNameChars"`
}

// Mute is in force until the operator ends it, or until its time is over.
type Mute struct {
	AgentID AgentID `json:"agent_id" bounds:"or empty"` // Empty: all agents in the room are muted.
	// The room in which the agent, or all agents, are muted; null: everywhere.
	RoomID *RoomID `json:"room_id"`
	Reason string  `json:"reason"` // What the operator says to the agents; may be empty.
	By     AgentID `json:"by"`
	Since  Time    `json:"since"`
	Until  *Time   `json:"until"` // When the mute ends by itself; null: it does not.
}

// Target returns who is muted, and where.
func (m *Mute) Target() MuteTarget {
	t := MuteTarget{AgentID: m.AgentID}
	if m.RoomID != nil {
		t.RoomID = *m.RoomID
	}
	return t
}

// Over reports whether the time of the mute is over.
func (m *Mute) Over(now Time) bool { return m.Until != nil && *m.Until <= now }

// Period says since when the mute is in force, until when and why.
func (m *Mute) Period() string {
	said := "since " + m.Since.String()
	if m.Until != nil {
		said += ", until " + m.Until.String()
	}
	if m.Reason != "" {
		said += ": " + m.Reason
	}
	return said
}

// Says tells the sender of a message what the mute does with it.
func (m *Mute) Says() string {
	said := "The " + string(m.By) + " has muted "
	switch {
	case m.AgentID == "":
		said += m.Target().String()
	case m.RoomID != nil:
		said += "you in room " + string(*m.RoomID)
	default:
		said += "you"
	}
	said += " " + m.Period()
	return said + ". The message is kept and wakes nobody: others see it when they read."
}

// Mutes keeps what an agent posts from waking others. A muted message is stored, listed and
// searched like any other. It wakes nobody, no hook shows it, and it fulfills no condition of
// a watch, also after the mute has ended. An agent that polls or reads gets it.
type Mutes interface {
	// Mute begins a mute, or changes the reason and the end of the one in force.
	// Operator only. Errors: room_not_found, limit_reached.
	Mute(ctx context.Context, in MuteInput) (Outcome[Mute], error)
	// EndMute ends the mute of exactly this target. Operator only. Errors: not_muted.
	EndMute(ctx context.Context, in MuteEndInput) (Outcome[Mute], error)
	// Mutes lists the mutes in force, the earliest first.
	Mutes(ctx context.Context) ([]Mute, error)
}
