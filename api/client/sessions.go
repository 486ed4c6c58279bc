package client

import (
	"context"

	"hubcli/hub"
)

// Resume trades a resume key for a new session.
func (c *Client) Resume(ctx context.Context, in hub.ResumeInput) (hub.Outcome[hub.Registered], error) {
	return write[hub.Registered](ctx, c, to("resumeSession"), in)
}

// Rename sets the display name of agent's live session.
func (c *Client) Rename(ctx context.Context, agent hub.AgentID, in hub.RenameInput) (hub.Outcome[hub.Session], error) {
	return write[hub.Session](ctx, c, at("renameSession", agent), in)
}

// CloseSession ends a session. A successor is the id under which the agent goes
// on; messages to the agent then go to it.
func (c *Client) CloseSession(ctx context.Context, id hub.SessionID, successor hub.AgentID) (hub.Outcome[hub.ClosedSession], error) {
	row, got, err := result[hub.ClosedSession](ctx, c, call{target: at("closeSession", id), query: params("successor", successor)})
	if err != nil {
		return hub.Outcome[hub.ClosedSession]{}, err
	}
	return hub.Outcome[hub.ClosedSession]{Row: row, Replayed: got.replayed}, nil
}

// Agents lists the live sessions by agent id, with what their agents do.
func (c *Client) Agents(ctx context.Context, q hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	return list[hub.LiveAgent](ctx, c, to("listAgents"), params("capability", q.Capability, "prefix", q.Prefix,
		"room_id", q.RoomID, "details", q.Details, "as", c.cfg.Agent), q.Cursor, q.Limit)
}

// Bootstrap returns what agent needs to begin.
func (c *Client) Bootstrap(ctx context.Context, agent hub.AgentID) (hub.Bootstrap, error) {
	return get[hub.Bootstrap](ctx, c, to("getBootstrap"), params("agent_id", agent))
}

// Channels lists channels by name.
func (c *Client) Channels(ctx context.Context, q hub.ChannelsQuery) ([]hub.Channel, hub.Cursor, error) {
	return list[hub.Channel](ctx, c, to("listChannels"), params("prefix", q.Prefix, "created_by", q.CreatedBy, "archived", q.Archived), q.Cursor, q.Limit)
}
