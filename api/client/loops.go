package client

import (
	"context"

	"hubcli/hub"
)

// Loops lists agents that post to each other without progress. It carries the operator token.
func (c *Client) Loops(ctx context.Context) ([]hub.Loop, error) {
	return get[[]hub.Loop](ctx, c, to("listLoops"), nil)
}
