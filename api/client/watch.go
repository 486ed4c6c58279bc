package client

import (
	"context"
	"net/http"
	"net/url"

	"hubcli/hub"
)

// Watch waits until all conditions hold, at most hub.MaxWatchWait a call.
func (c *Client) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	wait := min(max(q.Wait, 0), hub.MaxWatchWait)
	v := values{}
	v.text("agent_id", string(c.viewer(q.Agent)))
	v.text("room_id", string(q.Room))
	for _, condition := range q.Until {
		url.Values(v).Add("until", condition.Text)
	}
	v.text("label", q.Label)
	if q.Began > 0 {
		v.text("began", q.Began.String())
	}
	v.seconds("timeout", wait)
	row, _, err := get[hub.Watched](ctx, c, "/v1/watch", url.Values(v), wait)
	return row, err
}

// Attention says what an agent has not seen.
func (c *Client) Attention(ctx context.Context, q hub.AttentionQuery) (hub.Attention, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(q.Agent)))
	v.text("room_id", string(q.Room))
	row, _, err := get[hub.Attention](ctx, c, "/v1/attention", url.Values(v), 0)
	return row, err
}

// Tell moves the mark of what an agent has been told of.
func (c *Client) Tell(ctx context.Context, in hub.ToldInput) (hub.Told, error) {
	row, _, err := result[hub.Told](ctx, c, call{method: http.MethodPost, path: "/v1/attention", body: in})
	return row, err
}
