package client

import (
	"context"

	"hubcli/hub"
)

// CreateRun makes a run.
func (c *Client) CreateRun(ctx context.Context, in hub.RunInput) (hub.Outcome[hub.Run], error) {
	return write[hub.Run](ctx, c, to("createRun"), in)
}

// AddRunTasks adds tasks to a run.
func (c *Client) AddRunTasks(ctx context.Context, id hub.RunID, in hub.RunTasksInput) (hub.Outcome[hub.Run], error) {
	return write[hub.Run](ctx, c, at("addRunTasks", id), in)
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
	return list[hub.Run](ctx, c, to("listRuns"), v, q.Cursor, q.Limit)
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id hub.RunID, viewer hub.AgentID) (hub.Run, error) {
	return get[hub.Run](ctx, c, at("getRun", id), c.asViewer(viewer))
}

// HandoffTask offers a task to another agent.
func (c *Client) HandoffTask(ctx context.Context, id hub.TaskID, in hub.HandoffInput) (hub.Outcome[hub.Task], error) {
	return write[hub.Task](ctx, c, at("handoffTask", id), in)
}

// AcceptTask takes an offered task over.
func (c *Client) AcceptTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return write[hub.Task](ctx, c, at("acceptTask", id), in)
}

// DeclineTask ends an offer.
func (c *Client) DeclineTask(ctx context.Context, id hub.TaskID, in hub.OfferInput) (hub.Outcome[hub.Task], error) {
	return write[hub.Task](ctx, c, at("declineTask", id), in)
}
