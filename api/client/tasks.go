package client

import (
	"context"

	"hubcli/hub"
)

// Tasks lists tasks.
func (c *Client) Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	return list[hub.Task](ctx, c, to("listTasks"), params("status", orActive(q.Status, q.Active), "parent_id", q.ParentID,
		"channel", q.Channel, "thread_id", q.ThreadID, "room_id", q.RoomID, "run_id", q.RunID, "ready", q.Ready,
		"assignee", q.Assignee, "created_by", q.CreatedBy, "concerns", q.Concerns, "agent_id", c.viewer(q.Viewer)), q.Cursor, q.Limit)
}

// orActive is the status that a list is asked for: active stands for several.
func orActive[S ~string](status S, active bool) S {
	if active {
		return "active"
	}
	return status
}
