package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func budgetHandlers() handlers {
	return handlers{
		"listBudgets": listBudgets,
		"setBudget":   setBudget,
	}
}

func listBudgets(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().Budgets(c.context())
	return reply{result: list(rows)}, err
}

func setBudget(c *call) (reply, error) {
	var in hub.BudgetInput
	return writeRow(c, &in, nil, anyone(api.ValidateBudget), c.service().SetBudget, changed)
}
