package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.CapsuleImports = (*Client)(nil)

// PlanImport begins to check a capsule. It carries the operator token.
func (c *Client) PlanImport(ctx context.Context, in hub.CapsuleImportInput) (hub.CapsuleImportPlan, error) {
	return change[hub.CapsuleImportPlan](ctx, c, to("planImport"), in)
}

// ImportPlan returns a plan. It carries the operator token.
func (c *Client) ImportPlan(ctx context.Context, id string) (hub.CapsuleImportPlan, error) {
	return get[hub.CapsuleImportPlan](ctx, c, at("getImport", id), nil)
}

// ConfirmImport begins what was planned. It carries the operator token.
func (c *Client) ConfirmImport(ctx context.Context, id string, in hub.CapsuleConfirmInput) (hub.CapsuleImportPlan, error) {
	return change[hub.CapsuleImportPlan](ctx, c, at("confirmImport", id), in)
}

// CancelImport ends a plan. It carries the operator token.
func (c *Client) CancelImport(ctx context.Context, id string) (hub.CapsuleImportPlan, error) {
	return change[hub.CapsuleImportPlan](ctx, c, at("cancelImport", id), nil)
}
