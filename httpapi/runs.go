package httpapi

import (
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

func runHandlers() handlers {
	return handlers{
		"listRuns":    listRuns,
		"createRun":   createRun,
		"getRun":      getRun,
		"addRunTasks": addRunTasks,
		"acceptTask":  acceptTask,
		"declineTask": declineTask,
		"handoffTask": handoffTask,
	}
}

func listRuns(c *call) (reply, error) {
	query := c.query()
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
	q.Viewer = c.view(query)
	return readList(c, query, q, c.service().Runs)
}

func createRun(c *call) (reply, error) {
	var in hub.RunInput
	check := func(in *hub.RunInput, operator bool) error {
		return api.ValidateRun(in, c.server.config.Limits, operator)
	}
	return writeRow(c, &in, &in.CreatedBy, check, c.service().CreateRun, added)
}

func getRun(c *call) (reply, error) {
	query := c.query()
	viewer := c.view(query)
	return readRow(c, query, viewer, of(hub.RunID(c.param), c.service().Run))
}

func addRunTasks(c *call) (reply, error) {
	var in hub.RunTasksInput
	return writeRow(c, &in, &in.AgentID, api.ValidateRunTasks, of(hub.RunID(c.param), c.service().AddRunTasks), changed)
}

func handoffTask(c *call) (reply, error) {
	var in hub.HandoffInput
	return writeTask(c, &in, &in.AgentID, api.ValidateHandoff, c.service().HandoffTask)
}

func acceptTask(c *call) (reply, error) {
	var in hub.OfferInput
	return writeTask(c, &in, &in.AgentID, api.ValidateOffer, c.service().AcceptTask)
}

func declineTask(c *call) (reply, error) {
	var in hub.OfferInput
	return writeTask(c, &in, &in.AgentID, api.ValidateOffer, c.service().DeclineTask)
}
