package hub

import "context"

// GivenBy is the path by which an agent was given a message.
type GivenBy string

// The paths.
const (
	GivenByPoll   GivenBy = "poll"
	GivenByInbox  GivenBy = "inbox"
	GivenByStream GivenBy = "stream" // a stream of events, or a watch that streams
	GivenByWatch  GivenBy = "watch"  // the answer of a watch: the beginning of each body
	GivenByHook   GivenBy = "hook"   // a hook of the harness: the beginning of each body
)

// Given is how much one agent was given of what another has written, by one path. A
// message that is given twice counts twice.
type Given struct {
	AgentID   AgentID `json:"agent_id"`
	FromAgent AgentID `json:"from_agent"`
	Path      GivenBy `json:"path"`                  // Of watch and hook the beginnings of the bodies count.
	Messages  int     `json:"messages" bounds:"1.."` // One that is given twice counts twice.
	Chars     int     `json:"chars" bounds:"0.."`    // Of their bodies, as far as they were shown.
	LastAt    Time    `json:"last_at"`
}

// GivenIn is how much one agent was given of the messages of one room, or of all that are in no room.
type GivenIn struct {
	AgentID  AgentID `json:"agent_id"`
	RoomID   *RoomID `json:"room_id"`               // Null: directly, or in a channel of no room.
	Messages int     `json:"messages" bounds:"1.."` // One that is given twice counts twice.
	Chars    int     `json:"chars" bounds:"0.."`    // Of their bodies, as far as they were shown.
	LastAt   Time    `json:"last_at"`
}

// MaxLedgerRows is how many rows of each kind the ledger keeps: those that have changed last.
const MaxLedgerRows = 1_000

// Ledger is what agents were given since the hub has started.
type Ledger struct {
	Since Time      `json:"since"`
	Rows  []Given   `json:"rows" bounds:"..1000 items"`  // Most characters first.
	Rooms []GivenIn `json:"rooms" bounds:"..1000 items"` // The same by agent and room, most characters first.
	// How much of their budgets agents were given in the last hour, by their ids.
	Spent []Spent `json:"spent" bounds:"..1000 items"`
}

// Spent is how much of its budget an agent was given in the last hour.
type Spent struct {
	AgentID AgentID `json:"agent_id"`
	Chars   int     `json:"chars" bounds:"0.."`
	Budget  int     `json:"budget" bounds:"1.."`
}

// Ledgers says what took the attention of agents. Nothing of it is stored.
type Ledgers interface {
	// AttentionLedger returns all rows. Operator only.
	AttentionLedger(ctx context.Context) (Ledger, error)
}
