package client

import (
	"context"

	"hubcli/hub"
)

// Watch waits until all conditions hold, at most hub.MaxWatchWait a call.
func (c *Client) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	wait := min(max(q.Wait, 0), hub.MaxWatchWait)
	var until []string
	for _, condition := range q.Until {
		until = append(until, condition.Text)
	}
	query := params("agent_id", c.viewer(q.Agent), "room_id", q.Room, "until", until, "label", q.Label,
		"began", max(q.Began, 0), "timeout", wait, "stream", q.Stream, "after_id", q.After)
	row, _, err := result[hub.Watched](ctx, c, call{target: to("watch"), query: query, wait: wait})
	return row, err
}

// Attention returns what an agent has not seen.
func (c *Client) Attention(ctx context.Context, q hub.AttentionQuery) (hub.Attention, error) {
	return get[hub.Attention](ctx, c, to("getAttention"), params("agent_id", c.viewer(q.Agent), "room_id", q.Room))
}

// Tell moves the notified cursor of an agent.
func (c *Client) Tell(ctx context.Context, in hub.ToldInput) (hub.Told, error) {
	return change[hub.Told](ctx, c, to("tellAgent"), in)
}
