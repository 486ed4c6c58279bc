package core

import (
	"slices"

	"hubcli/hub"
)

// maxFormer bounds the former assignees that a task remembers.
const maxFormer = 16

// EarlierHolder stands for the claims and locks for a task that an agent took
// before a fence.
type EarlierHolder struct {
	Agent hub.AgentID `json:"agent"`
	Fence hub.Fence   `json:"fence"`
	// TakenOver says that the task was taken from an agent that had gone.
	TakenOver bool `json:"taken_over,omitempty"`
}

func (h EarlierHolder) took(l *Lease) bool { return l.Agent == h.Agent && l.takenAt() < h.Fence }

// passes reports whether leases pass on when the task gets the assignee to.
func (task *liveTask) passes(to hub.AgentID) bool {
	was := hub.Value(task.Task.Assignee)
	return was != "" && to != "" && was != to
}

// passedFrom notes that was had the task before its assignee. gone says that it was not there when
// the task passed on.
func (t *StoredTask) passedFrom(was hub.AgentID, gone bool, at Position) {
	t.Former = slices.DeleteFunc(slices.Clone(t.Former), func(f EarlierHolder) bool {
		return f.Agent == was || f.Agent == hub.Value(t.Task.Assignee)
	})
	t.Former = append(t.Former, EarlierHolder{Agent: was, Fence: at.FirstFence, TakenOver: gone})
	if over := len(t.Former) - maxFormer; over > 0 {
		t.Former = t.Former[over:]
	}
}

// Takes reports whether a lease passes to the assignee of the task: a former
// assignee took it for the task before the task passed on.
func (t *StoredTask) Takes(l *Lease) bool {
	return t.Task.Assignee != nil && l.ForTask() == t.Task.TaskID &&
		slices.ContainsFunc(t.Former, func(h EarlierHolder) bool { return h.took(l) })
}

// Frees reports whether a lease ends because the task has ended.
func (t *StoredTask) Frees(l *Lease) bool {
	return l.ForTask() == t.Task.TaskID && slices.ContainsFunc(t.Released, func(h EarlierHolder) bool { return h.took(l) })
}

// releases notes in f, which ends the task, that the leases for it of the agent
// that ends it and of its assignee end too.
func (task *liveTask) releases(f *TaskChanged, by hub.AgentID) {
	for _, agent := range []hub.AgentID{by, hub.Value(task.Task.Assignee)} {
		if agent != "" && !slices.Contains(f.Release, agent) {
			f.Release = append(f.Release, agent)
		}
	}
}
