package client

import (
	"context"

	"hubcli/hub"
)

// RoomStatus shows what goes on in a room.
func (c *Client) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	return get[hub.RoomStatus](ctx, c, at("getRoomStatus", q.RoomID), params("agent_id", c.viewer(q.Viewer), "all", q.All))
}

// Moment shows what a room was like at a moment.
func (c *Client) Moment(ctx context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	return get[hub.RoomMoment](ctx, c, at("getRoomMoment", q.RoomID), params(
		"seq", q.Seq, "ts", q.At, "since_id", q.SinceID, "before_id", q.BeforeID, "limit", q.Limit, "agent_id", c.viewer(q.Viewer)))
}
