package client

import (
	"context"

	"hubcli/hub"
)

// Asks lists questions, newest first.
func (c *Client) Asks(ctx context.Context, q hub.AsksQuery) ([]hub.Ask, hub.Cursor, error) {
	return list[hub.Ask](ctx, c, to("listAsks"), params("agent_id", q.AgentID, "state", q.State, "room_id", q.RoomID), q.Cursor, q.Limit)
}

// AskByID returns a question.
func (c *Client) AskByID(ctx context.Context, id hub.AskID, viewer hub.AgentID) (hub.Ask, error) {
	if !segment(string(id)) {
		return hub.Ask{}, hub.NewError(hub.CodeAskNotFound, "there is no such question").With("ask_id", id).
			WithFix("name it by its ask_id")
	}
	return get[hub.Ask](ctx, c, at("getAsk", id), params("agent_id", viewer))
}
