package client

import (
	"context"

	"hubcli/hub"
)

// Info returns which hub answers.
func (c *Client) Info(ctx context.Context) (hub.Info, error) {
	return get[hub.Info](ctx, c, to("getHubInfo"), nil)
}

// AppStatus is the operator's view of the hub.
func (c *Client) AppStatus(ctx context.Context) (hub.AppStatus, error) {
	return get[hub.AppStatus](ctx, c, to("getAppStatus"), nil)
}

// Shutdown asks the hub to stop. It carries the operator token.
func (c *Client) Shutdown(ctx context.Context, in hub.ShutdownInput) (hub.Shutdown, error) {
	out, err := write[hub.Shutdown](ctx, c, to("shutdown"), in)
	return out.Row, err
}

// ShutdownState tells whether the hub will stop. It carries the operator token.
func (c *Client) ShutdownState(ctx context.Context) (hub.Shutdown, error) {
	return get[hub.Shutdown](ctx, c, to("getShutdown"), nil)
}

// CancelShutdown keeps the hub running. It carries the operator token.
func (c *Client) CancelShutdown(ctx context.Context) (hub.Shutdown, error) {
	out, err := write[hub.Shutdown](ctx, c, to("cancelShutdown"), nil)
	return out.Row, err
}
