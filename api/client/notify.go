package client

import (
	"context"

	"hubcli/hub"
)

// Notify returns how the operator is told of questions. It carries the operator token.
func (c *Client) Notify(ctx context.Context) (hub.Notify, error) {
	return get[hub.Notify](ctx, c, to("getNotify"), nil)
}

// SetNotify replaces how the operator is told of questions. It carries the operator token.
func (c *Client) SetNotify(ctx context.Context, in hub.NotifyInput) (hub.Outcome[hub.Notify], error) {
	return write[hub.Notify](ctx, c, to("setNotify"), in)
}

// TestNotify sends a notification of a made-up question. It carries the operator token.
func (c *Client) TestNotify(ctx context.Context) (hub.Notified, error) {
	return change[hub.Notified](ctx, c, to("testNotify"), nil)
}
