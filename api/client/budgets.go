package client

import (
	"context"

	"hubcli/hub"
)

// SetBudget sets or ends a budget. It carries the operator token.
func (c *Client) SetBudget(ctx context.Context, in hub.BudgetInput) (hub.Outcome[hub.Budget], error) {
	return write[hub.Budget](ctx, c, to("setBudget"), in)
}

// Budgets lists the budgets.
func (c *Client) Budgets(ctx context.Context) ([]hub.Budget, error) {
	return get[[]hub.Budget](ctx, c, to("listBudgets"), nil)
}
