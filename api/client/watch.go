package client

import (
	"context"
	"net/url"

	"hubcli/hub"
)

// Watch waits until all conditions hold, at most hub.MaxWatchWait a call.
func (c *Client) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	wait := min(max(q.Wait, 0), hub.MaxWatchWait)
	v := c.asViewer(q.Agent)
	v.text("room_id", string(q.Room))
	for _, condition := range q.Until {
		url.Values(v).Add("until", condition.Text)
	}
	v.text("label", q.Label)
	if q.Began > 0 {
		v.text("began", q.Began.String())
	}
	v.seconds("timeout", wait)
	row, _, err := result[hub.Watched](ctx, c, call{target: to("watch"), query: v, wait: wait})
	return row, err
}

// Attention returns what an agent has not seen.
func (c *Client) Attention(ctx context.Context, q hub.AttentionQuery) (hub.Attention, error) {
	v := c.asViewer(q.Agent)
	v.text("room_id", string(q.Room))
	return get[hub.Attention](ctx, c, to("getAttention"), v)
}

// Tell moves the notified cursor of an agent.
func (c *Client) Tell(ctx context.Context, in hub.ToldInput) (hub.Told, error) {
	out, err := write[hub.Told](ctx, c, to("tellAgent"), in)
	return out.Row, err
}
