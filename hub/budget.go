package hub

import "context"

// Bounds of budgets: characters of bodies an hour, and how many budgets there are.
const (
	MinBudgetChars = 1_000
	MaxBudgetChars = 10_000_000
	MaxBudgets     = 200
)

// BudgetInput says how many characters an hour an agent is given, or each agent with a seat
// in a room. Exactly one of AgentID and RoomID is set.
//
// API: Exactly one of agent_id and room_id.
type BudgetInput struct {
	AgentID AgentID `json:"agent_id,omitempty" bounds:"or empty"`
	RoomID  RoomID  `json:"room_id,omitempty" bounds:"name ..MaxNameChars"`
	Chars   int     `json:"chars" bounds:"0..MaxBudgetChars"` // At least 1000, or 0 for no budget.
}

// Target returns whom or what the budget is for.
func (in *BudgetInput) Target() BudgetTarget {
	return BudgetTarget{AgentID: in.AgentID, RoomID: in.RoomID}
}

// BudgetTarget is an agent or a room.
type BudgetTarget struct {
	AgentID AgentID `json:"agent_id"`
	RoomID  RoomID  `json:"room_id"`
}

// Budget bounds the characters that an agent is given in an hour. Beyond it bodies are
// digests: their beginning, their size and the way to the whole.
type Budget struct {
	AgentID *AgentID `json:"agent_id" bounds:"as string"` // Null: the budget is of each agent with a seat in the room.
	RoomID  *RoomID  `json:"room_id"`
	Chars   int      `json:"chars" bounds:"0..10000000"` // Characters an hour; 0: there is no budget any more.
	By      AgentID  `json:"by"`
	Since   Time     `json:"since"`
}

// Target returns whom or what the budget is for.
func (b *Budget) Target() BudgetTarget {
	var t BudgetTarget
	if b.AgentID != nil {
		t.AgentID = *b.AgentID
	}
	if b.RoomID != nil {
		t.RoomID = *b.RoomID
	}
	return t
}

// Budgets bound what agents are given to read.
type Budgets interface {
	// SetBudget sets or ends a budget. Operator only. Errors: room_not_found, limit_reached.
	SetBudget(ctx context.Context, in BudgetInput) (Outcome[Budget], error)
	// Budgets lists the budgets, the earliest first.
	Budgets(ctx context.Context) ([]Budget, error)
}
