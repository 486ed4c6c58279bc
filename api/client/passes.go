package client

import (
	"context"

	"hubcli/hub"
)

// EndPass ends a pass. It carries the operator token.
func (c *Client) EndPass(ctx context.Context, id hub.PassID) (hub.Outcome[hub.Pass], error) {
	return write[hub.Pass](ctx, c, at("endPass", id), struct{}{})
}
