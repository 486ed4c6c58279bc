package client

import (
	"context"
	"net/url"

	"hubcli/hub"
)

// CreateRun makes a run.
func (c *Client) CreateRun(ctx context.Context, in hub.RunInput) (hub.Outcome[hub.Run], error) {
	return post[hub.Run](ctx, c, "/v1/runs", in)
}

// AddRunTasks adds tasks to a run.
func (c *Client) AddRunTasks(ctx context.Context, id hub.RunID, in hub.RunTasksInput) (hub.Outcome[hub.Run], error) {
	return post[hub.Run](ctx, c, runPath(id)+"/tasks", in)
}

// Runs lists runs.
func (c *Client) Runs(ctx context.Context, q hub.RunsQuery) ([]hub.Run, hub.Cursor, error) {
	v := values{}
	v.text("status", string(q.Status))
	if q.Active {
		v.text("status", "active")
	}
	v.text("room_id", string(q.RoomID))
	v.text("agent_id", string(c.viewer(q.Viewer)))
	return list[hub.Run](ctx, c, "/v1/runs", v, q.Cursor, q.Limit)
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id hub.RunID, viewer hub.AgentID) (hub.Run, error) {
	v := values{}
	v.text("agent_id", string(c.viewer(viewer)))
	row, _, err := get[hub.Run](ctx, c, runPath(id), url.Values(v), 0)
	return row, err
}

// HandoffTask offers a task to another agent.
func (c *Client) HandoffTask(ctx context.Context, id hub.TaskID, in hub.HandoffInput) (hub.Outcome[hub.Task], error) {
	return post[hub.Task](ctx, c, taskPath(id)+"/handoff", in)
}

// AcceptTask takes an offered task over.
func (c *Client) AcceptTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return post[hub.Task](ctx, c, taskPath(id)+"/accept", in)
}

// DeclineTask takes an offer back.
func (c *Client) DeclineTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return post[hub.Task](ctx, c, taskPath(id)+"/decline", in)
}

func runPath(id hub.RunID) string { return "/v1/runs/" + url.PathEscape(string(id)) }
