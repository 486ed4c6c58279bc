package core

import (
	"slices"

	"hubcli/hub"
)

// maxFormer bounds the former assignees that a task remembers.
const maxFormer = 16

// FormerAssignee is an agent that had a task before its assignee. The claims
// and locks for the task that it took before Fence pass to the assignee.
type FormerAssignee struct {
	Agent hub.AgentID `json:"agent"`
	Fence hub.Fence   `json:"fence"` // the first fence after the task passed on
}

// passes reports whether leases pass on when the task gets the assignee to.
func (task *liveTask) passes(to hub.AgentID) bool {
	was := value(task.Task.Assignee)
	return was != "" && to != "" && was != to
}

// passedFrom notes that was had the task before its assignee.
func (t *StoredTask) passedFrom(was hub.AgentID, at Position) {
	t.Former = slices.DeleteFunc(slices.Clone(t.Former), func(f FormerAssignee) bool {
		return f.Agent == was || f.Agent == value(t.Task.Assignee)
	})
	t.Former = append(t.Former, FormerAssignee{Agent: was, Fence: at.FirstFence})
	if over := len(t.Former) - maxFormer; over > 0 {
		t.Former = t.Former[over:]
	}
}

// Takes reports whether a lease passes to the assignee of the task: a former
// assignee took it for the task before the task passed on.
func (t *StoredTask) Takes(l *Lease) bool {
	return t.Task.Assignee != nil && l.ForTask() == t.Task.TaskID &&
		slices.ContainsFunc(t.Former, func(f FormerAssignee) bool { return f.Agent == l.Agent && l.takenAt() < f.Fence })
}
