package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.Capsules = (*Client)(nil)

// PlanExport begins an export. It carries the operator token.
func (c *Client) PlanExport(ctx context.Context, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	return change[hub.CapsulePlan](ctx, c, to("planExport"), in)
}

// PlanBundle begins an export to a folder. It carries the operator token.
func (c *Client) PlanBundle(ctx context.Context, in hub.CapsuleExportInput) (hub.CapsulePlan, error) {
	return get[hub.CapsulePlan](ctx, c, at("exportProject", in.Project),
		params("out", in.Out, "scope", in.Scope, "rooms", in.Rooms, "privacy", in.Privacy, "artifacts", in.Artifacts))
}

// ExportPlan returns a plan. It carries the operator token.
func (c *Client) ExportPlan(ctx context.Context, id string) (hub.CapsulePlan, error) {
	return get[hub.CapsulePlan](ctx, c, at("getExport", id), nil)
}

// ConfirmExport puts the file of a plan at its target. It carries the operator token.
func (c *Client) ConfirmExport(ctx context.Context, id string, in hub.CapsuleConfirmInput) (hub.CapsulePlan, error) {
	return change[hub.CapsulePlan](ctx, c, at("confirmExport", id), in)
}

// CancelExport ends a plan. It carries the operator token.
func (c *Client) CancelExport(ctx context.Context, id string) (hub.CapsulePlan, error) {
	return change[hub.CapsulePlan](ctx, c, at("cancelExport", id), nil)
}

// InspectCapsule checks a capsule on the hub's machine and says what it holds. It carries the
// operator token: the hub may read files that its caller may not.
func (c *Client) InspectCapsule(ctx context.Context, in hub.CapsuleInspectInput) (hub.CapsuleSummary, error) {
	return change[hub.CapsuleSummary](ctx, c, to("inspectCapsule"), in)
}
