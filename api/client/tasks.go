package client

import (
	"context"
	"net/url"
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
	return list[hub.Task](ctx, c, "/v1/tasks", v, q.Cursor, q.Limit)
}

// Task returns one task.
func (c *Client) Task(ctx context.Context, id hub.TaskID, viewer hub.AgentID) (hub.Task, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(viewer)))
	row, _, err := get[hub.Task](ctx, c, taskPath(id), url.Values(v), 0)
	return row, err
}

// CompleteTask ends a task as done.
func (c *Client) CompleteTask(ctx context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error) {
	return post[hub.Task](ctx, c, taskPath(id)+"/complete", in)
}

// UpdateTask changes a task.
func (c *Client) UpdateTask(ctx context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error) {
	return post[hub.Task](ctx, c, taskPath(id), in)
}

func taskPath(id hub.TaskID) string { return "/v1/tasks/" + strconv.FormatInt(int64(id), 10) }
