package client

import (
	"context"

	"hubcli/hub"
)

// Overview says what is wrong in the whole hub and which agent waits for which. It carries
// the operator token.
func (c *Client) Overview(ctx context.Context) (hub.Overview, error) {
	return get[hub.Overview](ctx, c, to("getOverview"), nil)
}
