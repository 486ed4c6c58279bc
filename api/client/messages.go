package client

import (
	"context"
	"net/url"
	"strconv"

	"hubcli/hub"
)

// Post stores a message.
func (c *Client) Post(ctx context.Context, in hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
	return post[hub.EncodedMessage](ctx, c, "/v1/messages", in)
}

// Message returns one whole row.
func (c *Client) Message(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.EncodedMessage, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(viewer)))
	row, _, err := get[hub.EncodedMessage](ctx, c, "/v1/messages/"+strconv.FormatInt(int64(id), 10), url.Values(v), 0)
	return row, err
}

// Messages returns public rows.
func (c *Client) Messages(ctx context.Context, q hub.MessagesQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	v := values{}
	v.text("channel", string(q.Channel))
	v.text("thread_id", string(q.ThreadID))
	v.number("since_id", int64(q.Since))
	v.number("limit", int64(q.Limit))
	v.flag("tail", q.Tail)
	v.seconds("timeout", wait)
	rows, got, err := get[[]hub.EncodedMessage](ctx, c, "/v1/messages", url.Values(v), wait)
	return hub.Page{Rows: rows, NextSinceID: got.next()}, err
}

// Events waits for rows, at most hub.MaxPollWait a call.
func (c *Client) Events(ctx context.Context, q hub.EventsQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	v := values{}
	v.text("agent_id", string(c.viewer(q.Agent)))
	for _, name := range q.Channels {
		url.Values(v).Add("channel", string(name))
	}
	v.text("room_id", string(q.RoomID))
	v.text("thread_id", string(q.ThreadID))
	v.number("since_id", int64(q.Since))
	// Sent in either case: what a hub takes for its default is its own affair.
	url.Values(v).Set("exclude_self", strconv.FormatBool(q.ExcludeSelf))
	v.number("limit", int64(q.Limit))
	v.number("max_chars", int64(q.MaxChars))
	v.flag("peek", q.Peek)
	v.seconds("timeout", wait)
	rows, got, err := get[[]hub.EncodedMessage](ctx, c, "/v1/events", url.Values(v), wait)
	return hub.Page{Rows: rows, NextSinceID: got.next()}, err
}

// Inbox returns direct messages to an agent.
func (c *Client) Inbox(ctx context.Context, q hub.InboxQuery) (hub.Page, error) {
	v := values{}
	v.number("since_id", int64(q.Since))
	v.number("limit", int64(q.Limit))
	v.flag("tail", q.Tail)
	v.flag("peek", q.Peek)
	agent := c.viewer(q.Agent)
	rows, got, err := get[[]hub.EncodedMessage](ctx, c, "/v1/inbox/"+url.PathEscape(string(agent)), url.Values(v), 0)
	return hub.Page{Rows: rows, NextSinceID: got.next()}, err
}

// Threads lists summaries.
func (c *Client) Threads(ctx context.Context, q hub.ThreadsQuery) ([]hub.ThreadSummary, hub.Cursor, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(q.Viewer)))
	return list[hub.ThreadSummary](ctx, c, "/v1/threads", v, q.Cursor, q.Limit)
}

// Thread returns one thread.
func (c *Client) Thread(ctx context.Context, id hub.ThreadID, viewer hub.AgentID) (hub.Thread, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(viewer)))
	row, _, err := get[hub.Thread](ctx, c, "/v1/threads/"+url.PathEscape(string(id)), url.Values(v), 0)
	return row, err
}

// viewer is the agent a read is made for: the one it names, else the client's.
func (c *Client) viewer(named hub.AgentID) hub.AgentID {
	if named != "" {
		return named
	}
	return c.cfg.Agent
}
