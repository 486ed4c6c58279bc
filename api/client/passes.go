package client

import (
	"context"

	"hubcli/hub"
)

// CreatePassCode makes a code for a pass. It carries the operator token.
func (c *Client) CreatePassCode(ctx context.Context, in hub.PassCodeInput) (hub.PassCode, error) {
	return change[hub.PassCode](ctx, c, to("createPassCode"), in)
}

// CreatePass exchanges a code for a pass. A code is no secret of the operator's: the call
// carries no token.
func (c *Client) CreatePass(ctx context.Context, in hub.PassInput) (hub.Outcome[hub.IssuedPass], error) {
	return write[hub.IssuedPass](ctx, c, to("createPass"), in)
}

// Passes lists the passes in force. It carries the operator token.
func (c *Client) Passes(ctx context.Context) ([]hub.Pass, error) {
	return get[[]hub.Pass](ctx, c, to("listPasses"), nil)
}

// EndPass ends a pass. It carries the operator token.
func (c *Client) EndPass(ctx context.Context, id hub.PassID) (hub.Outcome[hub.Pass], error) {
	return write[hub.Pass](ctx, c, at("endPass", id), struct{}{})
}
