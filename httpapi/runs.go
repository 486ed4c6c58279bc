package httpapi

import (
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

var runHandlers = handlers{
	"listRuns":    listRuns,
	"createRun":   createRun,
	"getRun":      getRun,
	"addRunTasks": addRunTasks,
	"acceptTask":  acceptTask,
	"declineTask": declineTask,
	"handoffTask": handoffTask,
}

func listRuns(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.RunsQuery{RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars))}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	switch status := hub.RunStatus(query.Text("status")); {
	case status == "":
	case status == "active":
		q.Active = true
	case slices.Contains(hub.RunStatuses(), status):
		q.Status = status
	default:
		query.Keep(hub.Invalid("status", "there is no such run status").With("statuses", hub.RunStatuses()).
			WithFix("use active or one of the statuses"))
	}
	if q.Viewer, err = c.view(query); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Runs(c.context(), q))
}

func createRun(c *call) (reply, error) {
	var in hub.RunInput
	if err := c.input(&in, &in.CreatedBy, func() error { return api.ValidateRun(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.CreateRun(c.context(), in)
	return created(out, true), err
}

func getRun(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	viewer, err := c.view(query)
	if err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Run(c.context(), hub.RunID(c.param), viewer)
	return reply{result: row}, err
}

func addRunTasks(c *call) (reply, error) {
	var in hub.RunTasksInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateRunTasks(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.AddRunTasks(c.context(), hub.RunID(c.param), in)
	return created(out, false), err
}

func handoffTask(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	var in hub.HandoffInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateHandoff(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.HandoffTask(c.context(), id, in)
	return created(out, false), err
}

func acceptTask(c *call) (reply, error) {
	id, in, err := c.offer()
	if err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.AcceptTask(c.context(), id, in)
	return created(out, false), err
}

func declineTask(c *call) (reply, error) {
	id, in, err := c.offer()
	if err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.DeclineTask(c.context(), id, in)
	return created(out, false), err
}

// offer reads the input of a call that accepts or declines an offer.
func (c *call) offer() (id hub.TaskID, in hub.OfferInput, err error) {
	if id, err = c.id("task_id", hub.CodeTaskNotFound); err != nil {
		return id, in, err
	}
	if err = c.decode(&in); err != nil {
		return id, in, err
	}
	c.name(&in.AgentID)
	if err = api.ValidateOffer(&in, c.caller.Operator); err != nil {
		return id, in, err
	}
	return id, in, c.actAs(in.AgentID)
}
