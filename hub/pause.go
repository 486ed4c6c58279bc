package hub

import "context"

// MaxPauses bounds the pauses that are in force at once. MaxPauseWords bounds the words of
// one, in characters: every refused agent gets them.
const (
	MaxPauses     = 1000
	MaxPauseWords = 1000
)

// PauseTarget is what the operator pauses: one agent, one room or everything. Exactly
// one member is set.
type PauseTarget struct {
	AgentID AgentID `json:"agent_id,omitempty"`
	RoomID  RoomID  `json:"room_id,omitempty"`
	All     bool    `json:"all,omitempty"`
}

// String names the target in a sentence.
func (t PauseTarget) String() string {
	switch {
	case t.All:
		return "everything"
	case t.RoomID != "":
		return "room " + string(t.RoomID)
	}
	return "agent " + string(t.AgentID)
}

// PauseInput pauses a target. The agents that it stops are told the words.
type PauseInput struct {
	AgentID AgentID `json:"agent_id,omitempty" bounds:"or empty"` // Exactly one of agent_id, room_id and all.
	RoomID  RoomID  `json:"room_id,omitempty" bounds:"..MaxNameChars runes"`
	All     bool    `json:"all,omitempty"`                         // Everything.
	Words   string  `json:"words" bounds:"1..MaxPauseWords runes"` // What the agents that are stopped are told.
	// Refuses an agent that never registered while ids like it are known (agent_unclear). For an id that somebody
	// has typed.
	UnlessNear bool `json:"unless_near,omitempty"`
}

// Target returns what the input pauses.
func (in *PauseInput) Target() PauseTarget {
	return PauseTarget{AgentID: in.AgentID, RoomID: in.RoomID, All: in.All}
}

// PauseEndInput names the target of the pause that ends.
//
// API: Exactly one of the members.
type PauseEndInput struct {
	AgentID AgentID `json:"agent_id,omitempty" bounds:"or empty"`
	RoomID  RoomID  `json:"room_id,omitempty" bounds:"..MaxNameChars runes"`
	All     bool    `json:"all,omitempty"` // Everything.
}

// Pause is in force until the operator resumes its target. Exactly one of AgentID, RoomID
// and All is set.
type Pause struct {
	// The agent that is paused; null: the pause is of a room or of everything.
	AgentID *AgentID `json:"agent_id" bounds:"as string"`
	RoomID  *RoomID  `json:"room_id"`
	All     bool     `json:"all"`
	Words   string   `json:"words"` // What the operator says to those who are stopped.
	By      AgentID  `json:"by"`
	Since   Time     `json:"since"`
}

// Target returns what is paused.
func (p *Pause) Target() PauseTarget {
	t := PauseTarget{All: p.All}
	if p.AgentID != nil {
		t.AgentID = *p.AgentID
	}
	if p.RoomID != nil {
		t.RoomID = *p.RoomID
	}
	return t
}

// String says what is paused, by whom, since when and why.
func (p *Pause) String() string {
	return "the " + string(p.By) + " has paused " + p.Target().String() + " since " + p.Since.String() + ": " + p.Words
}

// Pauses stops agents for a while. A paused agent posts nothing and takes no work. It
// may read, and renew, release or complete what it holds.
type Pauses interface {
	// Pause begins a pause, or changes the words of the one in force. The agents that it
	// concerns get a message. Operator only. Errors: room_not_found, limit_reached.
	Pause(ctx context.Context, in PauseInput) (Outcome[Pause], error)
	// EndPause ends the pause of exactly this target, and wakes whom it concerned.
	// Operator only. Errors: not_paused.
	EndPause(ctx context.Context, in PauseEndInput) (Outcome[Pause], error)
	// Pauses lists the pauses in force, the earliest first.
	Pauses(ctx context.Context) ([]Pause, error)
}
