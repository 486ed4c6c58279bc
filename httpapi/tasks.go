package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

func taskHandlers() handlers {
	return handlers{
		"listTasks":     listTasks,
		"getTask":       getTask,
		"getTaskLeases": getTaskLeases,
		"updateTask":    updateTask,
		"completeTask":  completeTask,
	}
}

func listTasks(c *call) (reply, error) {
	query := c.query()
	q := hub.TasksQuery{
		ParentID: query.ID("parent_id"),
		Channel:  hub.ChannelName(query.Name("channel", hub.MaxNameChars)),
		ThreadID: query.Thread(),
		RoomID:   hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		RunID:    hub.RunID(query.Text("run_id")),
		Ready:    query.OptionalBool("ready"),

		Assignee: query.Agent("assignee"), CreatedBy: query.Agent("created_by"), Concerns: query.Agent("concerns"),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	switch status := hub.TaskStatus(query.Text("status")); status {
	case "":
	case "active":
		q.Active = true
	default:
		var ok bool
		if q.Status, ok = hub.ParseTaskStatus(status); !ok {
			query.Keep(hub.Invalid("status", "there is no such task status").With("statuses", hub.TaskStatuses()).
				WithFix("use active or one of the statuses"))
		}
	}
	q.Viewer = c.view(query)
	return readList(c, query, q, c.service().Tasks)
}

func getTask(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	query := c.query()
	viewer := c.view(query)
	return readRow(c, query, viewer, of(id, c.service().Task))
}

func getTaskLeases(c *call) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	query := c.query()
	viewer := c.view(query)
	return readRow(c, query, viewer, of(id, c.service().TaskLeases))
}

func completeTask(c *call) (reply, error) {
	var in hub.CompleteInput
	check := func(in *hub.CompleteInput, operator bool) error {
		return api.ValidateComplete(in, c.server.config.Limits, operator)
	}
	return writeTask(c, &in, &in.AgentID, check, c.service().CompleteTask)
}

func updateTask(c *call) (reply, error) {
	var in hub.TaskUpdateInput
	return writeTask(c, &in, &in.AgentID, api.ValidateTaskUpdate, c.service().UpdateTask)
}

// writeTask is writeRow for a call that changes the task in its path. Whether
// that is an id is checked before the body is read.
func writeTask[In any](
	c *call, in *In, agent *hub.AgentID, check func(*In, bool) error,
	run func(context.Context, hub.TaskID, In) (hub.Outcome[hub.Task], error),
) (reply, error) {
	id, err := c.id("task_id", hub.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	return writeRow(c, in, agent, check, of(id, run), changed)
}
