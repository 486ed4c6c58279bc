package client

import (
	"context"
	"net/url"

	"hubcli/hub"
)

// RoomStatus shows what goes on in a room.
func (c *Client) RoomStatus(ctx context.Context, q hub.StatusQuery) (hub.RoomStatus, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(q.Viewer)))
	v.flag("all", q.All)
	row, _, err := get[hub.RoomStatus](ctx, c, "/v1/rooms/"+url.PathEscape(string(q.RoomID))+"/status", url.Values(v), 0)
	return row, err
}

// Sit says that an agent works in a room, and shows its seat.
func (c *Client) Sit(ctx context.Context, room hub.RoomID, in hub.SitInput) (hub.Outcome[hub.Seat], error) {
	return post[hub.Seat](ctx, c, "/v1/rooms/"+url.PathEscape(string(room))+"/seats", in)
}
