package client

import (
	"context"
	"net/http"
	"net/url"

	"hubcli/hub"
)

// ToolSurfaces lists the settings; of one harness, if it is named.
func (c *Client) ToolSurfaces(ctx context.Context, harness hub.Harness) ([]hub.ToolSurface, error) {
	v := values{}
	v.text("harness", string(harness))
	rows, _, err := get[[]hub.ToolSurface](ctx, c, "/v1/tool-surface", url.Values(v), 0)
	return rows, err
}

// SetToolSurface changes one. It carries the operator token.
func (c *Client) SetToolSurface(ctx context.Context, in hub.ToolSurfaceInput) (hub.Outcome[hub.ToolSurface], error) {
	row, got, err := result[hub.ToolSurface](ctx, c, call{
		method: http.MethodPut, path: "/v1/tool-surface", body: in, operator: true,
	})
	return hub.Outcome[hub.ToolSurface]{Row: row, Replayed: got.replayed}, err
}
