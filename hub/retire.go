package hub

import "context"

// How long an agent has done nothing before it counts as gone for good, and how many such
// agents one list shows.
const (
	DefaultRetireSec = 24 * 60 * 60
	MaxIdleAgents    = 500
)

// Belongings are what an agent has: seats, and what others wait for.
type Belongings struct {
	Rooms  []RoomID   `json:"rooms" bounds:"each like ^r_[0-9a-z]+$"` // In which it has a seat.
	Tasks  []TaskID   `json:"tasks"`                                  // That have not ended.
	Offers []TaskID   `json:"offers"`                                 // Tasks that it was offered.
	Claims []ClaimKey `json:"claims"`
	Locks  []string   `json:"locks"` // Paths.
}

// IdleAgent is an agent that is not there and is still shown somewhere.
type IdleAgent struct {
	AgentID  AgentID `json:"agent_id"`
	LastSeen *Time   `json:"last_seen"` // Null: not since the hub began.
	Belongings
}

// IdleAgents are the agents that have done nothing for a time, the longest first.
type IdleAgents struct {
	Agents []IdleAgent `json:"agents" bounds:"..500 items"`
	Count  int         `json:"count" bounds:"0.."` // All of them.
}

// IdleAgentsQuery asks for agents that have done nothing for this many seconds.
type IdleAgentsQuery struct{ IdleSec int }

// RetireInput retires an agent. Those whom it concerns are told the reason.
type RetireInput struct {
	Reason string `json:"reason,omitempty" bounds:"..MaxPauseWords runes"` // Told to those whom it concerns.
}

// RetiredAgent is an agent that has been retired, with what was taken from it.
type RetiredAgent struct {
	AgentID   AgentID `json:"agent_id"`
	RetiredAt Time    `json:"retired_at"`
	Belongings
}

// MaxUndeliveredFrom bounds the senders that a row of undelivered mail names.
const MaxUndeliveredFrom = 10

// Undelivered is mail that nobody is expected to read: direct messages of which their recipient
// has neither seen nor been told anything, because no agent has ever registered under the id, or
// because the agent is gone for long.
//
// API: Direct messages to one id of which it has neither seen nor been told anything.
type Undelivered struct {
	ToAgent AgentID `json:"to_agent"`
	// gone: the agent is retired, or has no session and has left the first of them for a day.
	State    RecipientState `json:"state" bounds:"one of never_registered gone"`
	From     []AgentID      `json:"from_agents" bounds:"..10 items"` // The first senders.
	Messages int            `json:"messages" bounds:"1..1000"`       // How many there are, up to 1,000.
	Since    Time           `json:"since"`                           // When the first of them was stored.
	LatestID MessageID      `json:"latest_id"`                       // The last of them.
	Near     []AgentID      `json:"near" bounds:"..3 items"`         // Known agents with an id like one that never registered.
}

// UndeliveredQuery asks for undelivered mail, by the id of its recipient.
type UndeliveredQuery struct {
	Cursor Cursor
	Limit  int
}

// Retirements take agents out of lists that are gone for good.
type Retirements interface {
	// IdleAgents lists the agents that are not there, have done nothing for a time, and
	// have a session, a seat, a lease, a task, an offer or unread messages. Operator only.
	IdleAgents(ctx context.Context, q IdleAgentsQuery) (IdleAgents, error)
	// Recipient says whether an agent would notice a message now. Operator only.
	Recipient(ctx context.Context, agent AgentID) (Recipient, error)
	// Undelivered lists mail that nobody is expected to read: to ids that never registered, and
	// to agents that are retired, or that have no session and have left it for a day. A row goes
	// when its id registers, or when the agent comes back. Operator only.
	Undelivered(ctx context.Context, q UndeliveredQuery) ([]Undelivered, Cursor, error)
	// Retire ends the session and the seats of an agent that is not there, releases its
	// leases, and gives its tasks and offers back; those who gave them are told. Messages
	// and the name of the agent stay. It comes back by itself with its next act. Operator
	// only. Errors: session_not_found if nobody knows the agent, not_gone if it
	// is there.
	Retire(ctx context.Context, agent AgentID, in RetireInput) (Outcome[RetiredAgent], error)
}
