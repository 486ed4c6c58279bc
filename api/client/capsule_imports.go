package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.CapsuleImports = (*Client)(nil)

// ImportPlan returns a plan. It carries the operator token.
func (c *Client) ImportPlan(ctx context.Context, id string) (hub.CapsuleImportPlan, error) {
	return get[hub.CapsuleImportPlan](ctx, c, at("getImport", id), nil)
}
