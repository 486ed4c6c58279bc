package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.Capsules = (*Client)(nil)

// PlanBundle begins an export to a folder. It carries the operator token.
func (c *Client) PlanBundle(ctx context.Context, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	return get[hub.CapsulePlan](ctx, c, at("exportProject", in.Project),
		params("out", in.Out, "scope", in.Scope, "rooms", in.Rooms, "privacy", in.Privacy, "artifacts", in.Artifacts))
}

// ExportPlan returns a plan. It carries the operator token.
func (c *Client) ExportPlan(ctx context.Context, id string) (hub.CapsulePlan, error) {
	return get[hub.CapsulePlan](ctx, c, at("getExport", id), nil)
}
