package client

import (
	"context"
	"net/http"

	"hubcli/hub"
)

// Info tells which hub answers.
func (c *Client) Info(ctx context.Context) (hub.Info, error) {
	row, _, err := get[hub.Info](ctx, c, "/v1/hub-info", nil, 0)
	return row, err
}

// AppStatus is the operator's view of the hub.
func (c *Client) AppStatus(ctx context.Context) (hub.AppStatus, error) {
	row, _, err := get[hub.AppStatus](ctx, c, "/v1/app/status", nil, 0)
	return row, err
}

// Shutdown asks the hub to stop. It carries the operator token.
func (c *Client) Shutdown(ctx context.Context, in hub.ShutdownInput) (hub.Shutdown, error) {
	return c.shutdown(ctx, call{method: http.MethodPost, path: "/v1/shutdown", body: in})
}

// ShutdownState tells whether the hub will stop. It carries the operator token.
func (c *Client) ShutdownState(ctx context.Context) (hub.Shutdown, error) {
	return c.shutdown(ctx, call{method: http.MethodGet, path: "/v1/shutdown"})
}

// CancelShutdown keeps the hub running. It carries the operator token.
func (c *Client) CancelShutdown(ctx context.Context) (hub.Shutdown, error) {
	return c.shutdown(ctx, call{method: http.MethodPost, path: "/v1/shutdown/cancel"})
}

func (c *Client) shutdown(ctx context.Context, k call) (hub.Shutdown, error) {
	k.operator = true
	row, _, err := result[hub.Shutdown](ctx, c, k)
	return row, err
}
