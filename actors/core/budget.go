package core

import (
	"fmt"

	"hubcli/hub"
)

// The facts of budgets: 895 to 899.
const factBudgetSet FactType = 895

func budgetFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factBudgetSet: func() Fact { return &BudgetSet{} }}
}

// Budgets decides how much agents are given to read in an hour.
type Budgets struct {
	Rulings[hub.BudgetTarget, hub.Budget]
}

// BudgetSet says that an agent or a room has a budget, or with no characters that it has none.
type BudgetSet struct {
	Budget hub.Budget `json:"budget"`
}

// FactType implements Fact.
func (*BudgetSet) FactType() FactType { return factBudgetSet }

// NewBudgets returns the state in which there is none.
func NewBudgets() *Budgets { return &Budgets{BudgetKind.None()} }

// Set decides a budget. What changes nothing has no effect. Error: limit_reached.
func (b *Budgets) Set(in hub.BudgetInput, now Now) (Decision[hub.Budget], error) {
	row, held := b.For(in.Target())
	if !held {
		row = hub.Budget{AgentID: Optional(in.AgentID), RoomID: Optional(in.RoomID), By: hub.AgentOperator, Since: now.Wall}
	}
	if row.Chars == in.Chars {
		return answering(row), nil
	}
	if !held {
		if err := b.full(hub.MaxBudgets, "there are %d budgets, and there cannot be more", "end budgets that need not be, or set one for a room"); err != nil {
			return Decision[hub.Budget]{}, err
		}
	}
	row.Chars, row.Since = in.Chars, now.Wall
	return answering(row, &BudgetSet{Budget: row}), nil
}

// BudgetKey is the key of a target in TableBudget.
func BudgetKey(t hub.BudgetTarget) []byte {
	if t.RoomID != "" {
		return []byte("room\x00" + string(t.RoomID))
	}
	return []byte("agent\x00" + string(t.AgentID))
}

// Apply changes the state by one fact. Applying a fact twice has the same effect as once.
func (b *Budgets) Apply(f Fact, _ Position, rows RowSink) {
	set, ok := f.(*BudgetSet)
	switch {
	case !ok:
		panic(fmt.Sprintf("core: the budgets were given the fact %T", f))
	case set.Budget.Chars == 0:
		b.end(set.Budget.Target(), rows)
	default:
		b.set(set.Budget, rows)
	}
}
