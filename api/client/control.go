package client

import (
	"context"
	"maps"
	"time"

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

// Debug shows what the hub does at this moment. It carries the operator token.
func (c *Client) Debug(ctx context.Context, q hub.DebugQuery) (hub.Debug, error) {
	return get[hub.Debug](ctx, c, to("debug"), params("stacks", q.Stacks))
}

// Profile returns a profile of the hub's process in the form of pprof. It carries
// the operator token.
func (c *Client) Profile(ctx context.Context, q hub.ProfileQuery) ([]byte, error) {
	v := params("profile", q.Kind)
	if q.Kind == hub.ProfileCPU {
		maps.Copy(v, params("seconds", int64(q.For/time.Second)))
	}
	got, err := c.do(ctx, call{target: to("debug"), query: v, wait: q.For, media: "application/octet-stream"})
	return got.data, err
}

// Shutdown asks the hub to stop. It carries the operator token.
func (c *Client) Shutdown(ctx context.Context, in hub.ShutdownInput) (hub.Shutdown, error) {
	return change[hub.Shutdown](ctx, c, to("shutdown"), in)
}

// ShutdownState tells whether the hub will stop. It carries the operator token.
func (c *Client) ShutdownState(ctx context.Context) (hub.Shutdown, error) {
	return get[hub.Shutdown](ctx, c, to("getShutdown"), nil)
}

// CancelShutdown keeps the hub running. It carries the operator token.
func (c *Client) CancelShutdown(ctx context.Context) (hub.Shutdown, error) {
	return change[hub.Shutdown](ctx, c, to("cancelShutdown"), nil)
}
