package client

import (
	"context"

	"hubcli/hub"
)

// Runs lists runs.
func (c *Client) Runs(ctx context.Context, q hub.RunsQuery) ([]hub.Run, hub.Cursor, error) {
	return list[hub.Run](ctx, c, to("listRuns"), params("status", orActive(q.Status, q.Active), "room_id", q.RoomID,
		"agent_id", c.viewer(q.Viewer)), q.Cursor, q.Limit)
}
