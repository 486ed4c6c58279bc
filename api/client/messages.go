package client

import (
	"context"
	"net/url"
	"strconv"

	"hubcli/hub"
)

// Post stores a message.
func (c *Client) Post(ctx context.Context, in hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
	return write[hub.EncodedMessage](ctx, c, to("postMessage"), in)
}

// Message returns one whole row.
func (c *Client) Message(ctx context.Context, id hub.MessageID, viewer hub.AgentID) (hub.EncodedMessage, error) {
	return get[hub.EncodedMessage](ctx, c, at("getMessage", id), c.asViewer(viewer))
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
	return page(ctx, c, to("listMessages"), v, wait)
}

// Events waits for rows, at most hub.MaxPollWait a call.
func (c *Client) Events(ctx context.Context, q hub.EventsQuery) (hub.Page, error) {
	wait := min(max(q.Wait, 0), hub.MaxPollWait)
	v := c.asViewer(q.Agent)
	for _, name := range q.Channels {
		url.Values(v).Add("channel", string(name))
	}
	v.text("room_id", string(q.RoomID))
	v.text("thread_id", string(q.ThreadID))
	v.number("since_id", int64(q.Since))
	// It is always sent, because hubs may differ in their default.
	url.Values(v).Set("exclude_self", strconv.FormatBool(q.ExcludeSelf))
	v.number("limit", int64(q.Limit))
	v.number("max_chars", int64(q.MaxChars))
	v.flag("peek", q.Peek)
	v.seconds("timeout", wait)
	return page(ctx, c, to("pollEvents"), v, wait)
}

// Inbox returns direct messages to an agent.
func (c *Client) Inbox(ctx context.Context, q hub.InboxQuery) (hub.Page, error) {
	v := values{}
	v.number("since_id", int64(q.Since))
	v.number("limit", int64(q.Limit))
	v.flag("tail", q.Tail)
	v.flag("peek", q.Peek)
	agent := c.viewer(q.Agent)
	return page(ctx, c, at("getInbox", agent), v, 0)
}

// Threads lists summaries.
func (c *Client) Threads(ctx context.Context, q hub.ThreadsQuery) ([]hub.ThreadSummary, hub.Cursor, error) {
	v := c.asViewer(q.Viewer)
	return list[hub.ThreadSummary](ctx, c, to("listThreads"), v, q.Cursor, q.Limit)
}

// Thread returns one thread.
func (c *Client) Thread(ctx context.Context, id hub.ThreadID, viewer hub.AgentID) (hub.Thread, error) {
	return get[hub.Thread](ctx, c, at("getThread", id), c.asViewer(viewer))
}

// viewer is the agent a read is made for: the one it names, else the client's.
func (c *Client) viewer(named hub.AgentID) hub.AgentID {
	if named != "" {
		return named
	}
	return c.cfg.Agent
}

// asViewer is the query of a read that this agent makes.
func (c *Client) asViewer(named hub.AgentID) values {
	v := values{}
	v.text("agent_id", string(c.viewer(named)))
	return v
}
