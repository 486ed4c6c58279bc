package client

import (
	"context"
	"strconv"

	"hubcli/hub"
)

// Tasks lists tasks.
func (c *Client) Tasks(ctx context.Context, q hub.TasksQuery) ([]hub.Task, hub.Cursor, error) {
	v := values{}
	v.text("status", string(q.Status))
	if q.Active {
		v.text("status", "active")
	}
	v.number("parent_id", int64(q.ParentID))
	v.text("channel", string(q.Channel))
	v.text("thread_id", string(q.ThreadID))
	v.text("room_id", string(q.RoomID))
	v.text("run_id", string(q.RunID))
	if q.Ready != nil {
		v.text("ready", strconv.FormatBool(*q.Ready))
	}
	v.text("assignee", string(q.Assignee))
	v.text("created_by", string(q.CreatedBy))
	v.text("concerns", string(q.Concerns))
	v.text("agent_id", string(c.viewer(q.Viewer)))
	return list[hub.Task](ctx, c, to("listTasks"), v, q.Cursor, q.Limit)
}

// Task returns one task.
func (c *Client) Task(ctx context.Context, id hub.TaskID, viewer hub.AgentID) (hub.Task, error) {
	return get[hub.Task](ctx, c, at("getTask", id), c.asViewer(viewer))
}

// CompleteTask ends a task as done.
func (c *Client) CompleteTask(ctx context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error) {
	return write[hub.Task](ctx, c, at("completeTask", id), in)
}

// UpdateTask changes a task.
func (c *Client) UpdateTask(ctx context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error) {
	return write[hub.Task](ctx, c, at("updateTask", id), in)
}
