package client

import (
	"context"
	"net/http"
	"net/url"

	"hubcli/hub"
)

// Register makes a session; As gives a client that uses it.
func (c *Client) Register(ctx context.Context, in hub.RegisterInput) (hub.Outcome[hub.Registered], error) {
	return post[hub.Registered](ctx, c, "/v1/sessions", in)
}

// Resume trades a resume key for a new session.
func (c *Client) Resume(ctx context.Context, in hub.ResumeInput) (hub.Outcome[hub.Registered], error) {
	return post[hub.Registered](ctx, c, "/v1/sessions/resume", in)
}

// Rename sets the display name of agent's live session.
func (c *Client) Rename(ctx context.Context, agent hub.AgentID, in hub.RenameInput) (hub.Outcome[hub.Session], error) {
	return post[hub.Session](ctx, c, "/v1/sessions/"+url.PathEscape(string(agent))+"/rename", in)
}

// CloseSession ends a session.
func (c *Client) CloseSession(ctx context.Context, id hub.SessionID) (hub.Outcome[hub.ClosedSession], error) {
	row, got, err := result[hub.ClosedSession](ctx, c, call{
		method: http.MethodDelete, path: "/v1/sessions/" + url.PathEscape(string(id)),
	})
	return hub.Outcome[hub.ClosedSession]{Row: row, Replayed: got.replayed}, err
}

// Agents lists the live sessions by agent id.
func (c *Client) Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.Session, hub.Cursor, error) {
	v := values{}
	v.text("capability", q.Capability)
	v.text("prefix", q.Prefix)
	v.text("room_id", string(q.RoomID))
	v.text("as", string(c.cfg.Agent))
	return list[hub.Session](ctx, c, "/v1/agents", v, q.Cursor, q.Limit)
}

// Bootstrap says what agent needs to begin.
func (c *Client) Bootstrap(ctx context.Context, agent hub.AgentID) (hub.Bootstrap, error) {
	v := values{}
	v.text("agent_id", string(agent))
	row, _, err := get[hub.Bootstrap](ctx, c, "/v1/bootstrap", url.Values(v), 0)
	return row, err
}

// CreateChannel makes a channel or returns the one there is.
func (c *Client) CreateChannel(ctx context.Context, in hub.ChannelInput) (hub.Outcome[hub.Channel], error) {
	return post[hub.Channel](ctx, c, "/v1/channels", in)
}

// Channels lists channels by name.
func (c *Client) Channels(ctx context.Context, q hub.ChannelsQuery) ([]hub.Channel, hub.Cursor, error) {
	v := values{}
	v.text("prefix", q.Prefix)
	v.text("created_by", string(q.CreatedBy))
	return list[hub.Channel](ctx, c, "/v1/channels", v, q.Cursor, q.Limit)
}
