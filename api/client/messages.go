package client

import (
	"context"

	"hubcli/hub"
)

// Post stores a message.
func (c *Client) Post(ctx context.Context, in hub.PostInput) (hub.Posted, error) {
	row, got, err := result[hub.EncodedMessage](ctx, c, call{target: to("postMessage"), body: in})
	if err != nil {
		return hub.Posted{}, err
	}
	return hub.Posted{Outcome: outcome(row, got), Recipient: got.Recipient, Muted: got.Muted}, nil
}

// Receipt says what has become of a direct message.
func (c *Client) Receipt(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.Receipt, error) {
	return get[hub.Receipt](ctx, c, at("getReceipt", id), params("agent_id", c.viewer(viewer)))
}

// Message returns one whole row.
func (c *Client) Message(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.EncodedMessage, error) {
	return get[hub.EncodedMessage](ctx, c, at("getMessage", id), params("agent_id", c.viewer(viewer)))
}

// Messages returns public rows.
func (c *Client) Messages(ctx context.Context, q hub.MessagesQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	return page(ctx, c, to("listMessages"), params("channel", q.Channel, "thread_id", q.ThreadID, "since_id", q.Since,
		"limit", q.Limit, "tail", q.Tail, "timeout", wait), wait)
}

// Events waits for rows, at most hub.MaxPollWait a call.
func (c *Client) Events(ctx context.Context, q hub.EventsQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	// exclude_self is always sent, because hubs may differ in their default.
	return page(ctx, c, to("pollEvents"), params("agent_id", c.viewer(q.Agent), "channel", q.Channels, "room_id", q.RoomID,
		"thread_id", q.ThreadID, "since_id", q.Since, "exclude_self", &q.ExcludeSelf, "limit", q.Limit,
		"max_chars", q.MaxChars, "peek", q.Peek, "awaits", q.Awaits, "timeout", wait), wait)
}

// Log returns messages for a spectator; it waits at most hub.MaxPollWait a call.
func (c *Client) Log(ctx context.Context, q hub.LogQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	return page(ctx, c, to("readLog"), params("room_id", q.RoomID, "channel", q.Channel, "thread_id", q.ThreadID, "agent", q.Agent,
		"direct", q.Direct, "since_id", q.SinceID, "before_id", q.BeforeID, "since", q.Since, "until", q.Until, "tail", q.Tail, "limit", q.Limit, "timeout", wait), wait)
}

// Inbox returns direct messages to an agent.
func (c *Client) Inbox(ctx context.Context, q hub.InboxQuery) (hub.Page, error) {
	return page(ctx, c, at("getInbox", c.viewer(q.Agent)), params("since_id", q.Since, "limit", q.Limit, "tail", q.Tail, "peek", q.Peek), 0)
}

// Threads lists summaries.
func (c *Client) Threads(ctx context.Context, q hub.ThreadsQuery) ([]hub.ThreadSummary, hub.Cursor, error) {
	return list[hub.ThreadSummary](ctx, c, to("listThreads"), params("agent_id", c.viewer(q.Viewer)), q.Cursor, q.Limit)
}

// Thread returns one thread.
func (c *Client) Thread(ctx context.Context, id hub.ThreadID, viewer hub.AgentID) (hub.Thread, error) {
	return get[hub.Thread](ctx, c, at("getThread", id), params("agent_id", c.viewer(viewer)))
}

// viewer is the agent a read is made for: the one it names, else the client's.
func (c *Client) viewer(named hub.AgentID) hub.AgentID {
	if named != "" {
		return named
	}
	return c.cfg.Agent
}
