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
	row, _, err := get[hub.RoomStatus](ctx, c, "/v1/rooms/"+url.PathEscape(string(q.RoomID))+"/status", url.Values(v), 0)
	return row, err
}
