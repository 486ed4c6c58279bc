package client

import (
	"context"
	"maps"
	"net"
	"time"

	"hubcli/hub"
)

// Info returns which hub answers.
func (c *Client) Info(ctx context.Context) (hub.Info, error) {
	return get[hub.Info](ctx, c, to("getHubInfo"), nil)
}

// Meet is Info for the first call of a program that lives for a few calls only. A hub that
// proves itself says the same while the client connects, so that nothing more is asked then.
func (c *Client) Meet(ctx context.Context) (hub.Info, error) {
	if c.bad != nil || c.dial == nil || c.base.Scheme != "http" || c.base.Path != "" {
		return c.Info(ctx)
	}
	within, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	port := c.base.Port()
	if port == "" {
		port = "80"
	}
	says, err := c.dial.meet(within, net.JoinHostPort(c.base.Hostname(), port))
	if ctx.Err() != nil {
		return hub.Info{}, context.Cause(ctx)
	}
	if err != nil {
		f := c.unanswered(within, err, c.cfg.Timeout, false, false)
		if f.again {
			return c.Info(ctx)
		}
		return hub.Info{}, f.err
	}
	if says == nil {
		return c.Info(ctx)
	}
	says.Proof = "" // it was for the connection
	return *says, nil
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

// ShutdownState tells whether the hub will stop. It carries the operator token.
func (c *Client) ShutdownState(ctx context.Context) (hub.Shutdown, error) {
	return get[hub.Shutdown](ctx, c, to("getShutdown"), nil)
}
