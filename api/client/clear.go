package client

import (
	"context"

	"hubcli/hub"
)

// PlanClear lists what a selection finds, and changes nothing. It carries the operator token.
func (c *Client) PlanClear(ctx context.Context, in hub.ClearInput) (hub.ClearPlan, error) {
	return change[hub.ClearPlan](ctx, c, to("planClear"), in)
}

// Clear closes the things of a plan. It carries the operator token.
func (c *Client) Clear(ctx context.Context, in hub.ClearConfirmInput) (hub.Cleared, error) {
	return change[hub.Cleared](ctx, c, to("clear"), in)
}
