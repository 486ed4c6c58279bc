package core

import (
	"slices"
	"sync"

	"hubcli/hub"
)

// nextStatus lists, for each status, those that may follow it.
var nextStatus = sync.OnceValue(func() map[hub.TaskStatus][]hub.TaskStatus {
	return map[hub.TaskStatus][]hub.TaskStatus{
		hub.TaskOpen:          {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
		hub.TaskWorking:       {hub.TaskInputRequired, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
		hub.TaskInputRequired: {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
	}
})

// Update changes the status, the assignee or the blocked_by of a task. An agent
// that begins to work on a task without assignee becomes the assignee. Setting
// current values changes nothing and keeps the version. Errors: ErrNotLive,
// task_not_found (also if the actor may not see it), version_conflict,
// task_taken, blocked, invalid, invalid_agent_id.
func (t *Tasks) Update(id hub.TaskID, c UpdateCommand, _ Now, w TaskWorld) (Decision[hub.Task], error) {
	task, err := t.find(id, c.By)
	if err != nil {
		return Decision[hub.Task]{}, err
	}
	row := task.Task
	if want := c.In.ExpectedVersion; want != 0 && want != row.Version {
		return Decision[hub.Task]{}, hub.Errorf(hub.CodeVersionConflict, "task %d is at version %d, not %d", id, row.Version, want).
			With("current_version", row.Version).WithFix("read the task again and decide anew")
	}
	f := &TaskChanged{Task: id}
	if s := c.In.Status; s != nil && s.Terminal() {
		if err := task.replaced(c.By); err != nil {
			return Decision[hub.Task]{}, err
		}
	}
	if s := c.In.Status; s != nil && *s != row.Status {
		if err := checkTransition(row.Status, *s); err != nil {
			return Decision[hub.Task]{}, err
		}
		f.Status = s
	}
	if a := task.newAssignee(&c); a != nil && *a != hub.Value(row.Assignee) {
		if err := task.checkAssignee(*a, &c); err != nil {
			return Decision[hub.Task]{}, err
		}
		f.Assignee, f.Passes = a, task.passes(*a)
	} else if a != nil && c.In.Note != "" && !task.disposes(c.By) {
		return Decision[hub.Task]{}, task.taken() // a note is as good as giving the task away
	}
	if c.In.BlockedBy != nil {
		if err := t.changeBlockedBy(task, f, c, w); err != nil {
			return Decision[hub.Task]{}, err
		}
		if adds := len(f.blockers(task)) - len(row.BlockedBy); adds > 0 {
			if err := t.placeFor(row.CreatedBy, c.Standing, 0, adds*blockerBytes); err != nil {
				return Decision[hub.Task]{}, err
			}
		}
	}
	if f.Status == nil && f.Assignee == nil && f.BlockedBy == nil {
		return Decision[hub.Task]{Draft: Draft{Messages: task.asked(&c)}, Answer: func(Position) hub.Task { return row }}, nil
	}
	if err := t.checkBlocked(task, f, c.By, c.In.Force); err != nil {
		return Decision[hub.Task]{}, err
	}
	if c.In.Release && f.Status != nil && f.Status.Terminal() {
		task.releases(f, c.By.Agent)
	}
	var messages []MessageDraft
	if f.Assignee != nil {
		messages = task.assigned(c, *f.Assignee)
	} else {
		messages = task.asked(&c)
	}
	ready := t.readyAfter(task, f)
	if ready && !row.Ready && f.Status == nil && f.Assignee == nil {
		messages = append(messages, task.freed(c.By)...)
	}
	return t.decide(task, f, messages, ready)
}

// freed tells the agent that has a task, or is offered it, that another agent lets it begin.
func (task *liveTask) freed(by TaskActor) []MessageDraft {
	m := waitNotice([]*liveTask{task}, wakeTaskReady)
	if m.To == "" || m.To == by.Agent {
		return nil
	}
	return []MessageDraft{m}
}

// newAssignee returns the assignee that an update sets, or nil if it sets none.
func (task *liveTask) newAssignee(c *UpdateCommand) *hub.AgentID {
	in := &c.In
	if in.Assignee == nil && task.Task.Assignee == nil && in.Status != nil && *in.Status == hub.TaskWorking && c.By.Agent != "" {
		return &c.By.Agent
	}
	return in.Assignee
}

func checkTransition(from, to hub.TaskStatus) error {
	if slices.Contains(nextStatus()[from], to) {
		return nil
	}
	if !slices.Contains(hub.TaskStatuses(), to) {
		return hub.Invalid("status", "there is no such status").With("allowed", hub.TaskStatuses())
	}
	return hub.Invalid("status", "a task that is "+string(from)+" cannot become "+string(to)).
		With("current", from).With("allowed", nextStatus()[from])
}
