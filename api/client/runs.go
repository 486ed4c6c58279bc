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
	return list[hub.Run](ctx, c, to("listRuns"), params("status", orActive(q.Status, q.Active), "room_id", q.RoomID,
		"agent_id", c.viewer(q.Viewer)), q.Cursor, q.Limit)
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id hub.RunID, viewer hub.AgentID) (hub.Run, error) {
	return get[hub.Run](ctx, c, at("getRun", id), params("agent_id", c.viewer(viewer)))
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
