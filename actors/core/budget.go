package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

// The facts of budgets: 895 to 899.
const factBudgetSet FactType = 895

func budgetFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factBudgetSet: func() Fact { return &BudgetSet{} }}
}

// Budgets decides how much agents are given to read in an hour.
type Budgets struct {
	held map[hub.BudgetTarget]hub.Budget
}

// BudgetSet says that an agent or a room has a budget, or with no characters that it has none.
type BudgetSet struct {
	Budget hub.Budget `json:"budget"`
}

// FactType implements Fact.
func (*BudgetSet) FactType() FactType { return factBudgetSet }

// NewBudgets returns the state in which there is none.
func NewBudgets() *Budgets { return &Budgets{held: map[hub.BudgetTarget]hub.Budget{}} }

// Restore adds a stored row. An empty value is a budget that is over.
func (b *Budgets) Restore(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row hub.Budget
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of a budget cannot be read")
	}
	b.held[row.Target()] = row
	return nil
}

// Set decides a budget. What changes nothing has no effect. Error: limit_reached.
func (b *Budgets) Set(in hub.BudgetInput, now Now) (Decision[hub.Budget], error) {
	row, held := b.held[in.Target()]
	if !held {
		row = hub.Budget{AgentID: Optional(in.AgentID), RoomID: Optional(in.RoomID), By: hub.AgentOperator, Since: now.Wall}
	}
	if row.Chars == in.Chars {
		return Decision[hub.Budget]{Answer: func(Position) hub.Budget { return row }}, nil
	}
	if !held && len(b.held) >= hub.MaxBudgets {
		return Decision[hub.Budget]{}, hub.Errorf(hub.CodeLimitReached, "there are %d budgets, and there cannot be more", hub.MaxBudgets).
			With("limit", hub.MaxBudgets).WithFix("end budgets that need not be, or set one for a room")
	}
	row.Chars, row.Since = in.Chars, now.Wall
	return Decision[hub.Budget]{
		Draft:  Draft{Facts: []Fact{&BudgetSet{Budget: row}}},
		Answer: func(Position) hub.Budget { return row },
	}, nil
}

// List returns the budgets, the earliest first.
func (b *Budgets) List() []hub.Budget { return SortedBudgets(b.held) }

// SortedBudgets returns budgets, the earliest first.
func SortedBudgets(held map[hub.BudgetTarget]hub.Budget) []hub.Budget {
	all := make([]hub.Budget, 0, len(held))
	for _, row := range held {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b hub.Budget) int {
		if a.Since != b.Since {
			return int(a.Since - b.Since)
		}
		return strings.Compare(string(BudgetKey(a.Target())), string(BudgetKey(b.Target())))
	})
	return all
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
		delete(b.held, set.Budget.Target())
		rows.Put(TableBudget, BudgetKey(set.Budget.Target()), nil)
	default:
		b.held[set.Budget.Target()] = set.Budget
		rows.Put(TableBudget, BudgetKey(set.Budget.Target()), mustJSON(set.Budget))
	}
}
