package httpapi

import (
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

var taskHandlers = handlers{
	"listTasks":    listTasks,
	"getTask":      getTask,
	"updateTask":   updateTask,
	"completeTask": completeTask,
}

func listTasks(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.TasksQuery{
		ParentID: query.ID("parent_id"),
		Channel:  hub.ChannelName(query.Name("channel", hub.MaxNameChars)),
		ThreadID: hub.ThreadID(query.Name("thread_id", hub.MaxNameChars)),
		RoomID:   hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		RunID:    hub.RunID(query.Text("run_id")),
		Ready:    query.OptionalBool("ready"),

		Assignee: query.Agent("assignee"), CreatedBy: query.Agent("created_by"), Concerns: query.Agent("concerns"),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	switch status := hub.TaskStatus(query.Text("status")); {
	case status == "":
	case status == "active":
		q.Active = true
	case slices.Contains(hub.TaskStatuses(), status):
		q.Status = status
	default:
		query.Keep(hub.Invalid("status", "there is no such task status").With("statuses", hub.TaskStatuses()).
			WithFix("use active or one of the statuses"))
	}
	if q.Viewer, err = c.view(query); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Tasks(c.context(), q))
}

func getTask(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	viewer, err := c.view(query)
	if err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Task(c.context(), id, viewer)
	return reply{result: row}, err
}

func completeTask(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	var in hub.CompleteInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateComplete(&in, c.server.config.Limits, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.CompleteTask(c.context(), id, in)
	return created(out, false), err
}

func updateTask(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	var in hub.TaskUpdateInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateTaskUpdate(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.UpdateTask(c.context(), id, in)
	return created(out, false), err
}
