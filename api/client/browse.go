package client

import (
	"context"

	"hubcli/hub"
)

// Browse does one step with the page of a room.
func (c *Client) Browse(ctx context.Context, room hub.RoomID, in hub.BrowseInput) (hub.BrowsePage, error) {
	return change[hub.BrowsePage](ctx, c, at("browse", room), in)
}

// AllowHost changes what the browser of a room may reach. It carries the operator token.
func (c *Client) AllowHost(ctx context.Context, room hub.RoomID, in hub.AllowHostInput) (hub.Outcome[hub.Room], error) {
	return write[hub.Room](ctx, c, at("allowHost", room), in)
}
