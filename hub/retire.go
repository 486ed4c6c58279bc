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
	Rooms  []RoomID   `json:"rooms"`  // in which it has a seat
	Tasks  []TaskID   `json:"tasks"`  // that have not ended
	Offers []TaskID   `json:"offers"` // tasks that it was offered
	Claims []ClaimKey `json:"claims"`
	Locks  []string   `json:"locks"` // paths
}

// IdleAgent is an agent that is not there and is still shown somewhere.
type IdleAgent struct {
	AgentID  AgentID `json:"agent_id"`
	LastSeen *Time   `json:"last_seen"` // null: not since the hub began
	Belongings
}

// IdleAgents are the agents that have done nothing for a time, the longest first.
type IdleAgents struct {
	Agents []IdleAgent `json:"agents"` // at most MaxIdleAgents
	Count  int         `json:"count"`  // all of them
}

// IdleAgentsQuery asks for agents that have done nothing for this many seconds.
type IdleAgentsQuery struct{ IdleSec int }

// RetireInput retires an agent. Those whom it concerns are told the reason.
type RetireInput struct {
	Reason string `json:"reason,omitempty"`
}

// RetiredAgent is an agent that has been retired, with what was taken from it.
type RetiredAgent struct {
	AgentID   AgentID `json:"agent_id"`
	RetiredAt Time    `json:"retired_at"`
	Belongings
}

// Retirements take agents out of lists that are gone for good.
type Retirements interface {
	// IdleAgents lists the agents that are not there, have done nothing for a time, and
	// have a session, a seat, a lease, a task, an offer or unread messages. Operator only.
	IdleAgents(ctx context.Context, q IdleAgentsQuery) (IdleAgents, error)
	// Recipient says whether an agent would notice a message now. Operator only.
	Recipient(ctx context.Context, agent AgentID) (Recipient, error)
	// Retire ends the session and the seats of an agent that is not there, releases its
	// leases, and gives its tasks and offers back; those who gave them are told. Messages
	// and the name of the agent stay. It comes back by itself with its next act. Operator
	// only. Errors: session_not_found if nobody knows the agent, not_gone if it
	// is there.
	Retire(ctx context.Context, agent AgentID, in RetireInput) (Outcome[RetiredAgent], error)
}
