package client

import (
	"context"

	"hubcli/hub"
)

// ToolSurfaces lists the settings of all harnesses, or of the named one.
func (c *Client) ToolSurfaces(ctx context.Context, harness hub.Harness) ([]hub.ToolSurface, error) {
	return get[[]hub.ToolSurface](ctx, c, to("getToolSurface"), params("harness", harness))
}
