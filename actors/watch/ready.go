package watch

import (
	"fmt"

	"hubcli/actors/core"
	"hubcli/hub"
)

// taskReady holds while the room has a task that the agent could take now.
func (w *watch) taskReady(c *test) (bool, string, error) {
	found := w.view.Tasks.InRoom(c.Room, w.free)
	if len(found) == 0 {
		return false, "no task of room " + string(c.Room) + " is ready for you", nil
	}
	first := found[len(found)-1].Task.TaskID
	if len(found) == 1 {
		return true, fmt.Sprintf("task %d is ready for you", first), nil
	}
	return true, fmt.Sprintf("task %d and %d others are ready for you", first, len(found)-1), nil
}

// free reports whether a task is open and ready, visible to the agent, and not meant for
// another: nobody has it, or the agent itself.
func (w *watch) free(t *core.StoredTask) bool {
	me := w.query.Agent
	switch {
	case t.Task.Status != hub.TaskOpen || !t.Task.Ready || !core.TaskVisible(me, t):
		return false
	case t.Task.Assignee != nil:
		return *t.Task.Assignee == me
	case t.Task.OfferedTo != nil:
		return *t.Task.OfferedTo == me
	default:
		return t.Asked == "" || t.Asked == me
	}
}
