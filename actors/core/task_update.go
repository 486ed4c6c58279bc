package core

import (
	"slices"

	"hubcli/hub"
)

const (
	// maxWaiting bounds the tasks that may wait for one task, because its end
	// writes a row for each of them.
	maxWaiting = 500
	// maxBlockedWalk bounds the search for a cycle.
	maxBlockedWalk = 10_000
)

// nextStatus lists, for each status, those that may follow it.
var nextStatus = map[hub.TaskStatus][]hub.TaskStatus{
	hub.TaskOpen:          {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
	hub.TaskWorking:       {hub.TaskInputRequired, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
	hub.TaskInputRequired: {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
}

// Update changes the status, the assignee or the blocked_by of a task. Setting
// current values changes nothing and keeps the version. Errors: ErrNotLive,
// task_not_found (also if the actor may not see it), version_conflict,
// task_taken, invalid, invalid_agent_id.
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
	blockedBy := row.BlockedBy
	if s := c.In.Status; s != nil && *s != row.Status {
		if err := checkTransition(row.Status, *s); err != nil {
			return Decision[hub.Task]{}, err
		}
		f.Status = s
	}
	if a := c.In.Assignee; a != nil && *a != value(row.Assignee) {
		if err := task.checkAssignee(*a, c.By); err != nil {
			return Decision[hub.Task]{}, err
		}
		f.Assignee = a
	}
	if c.In.BlockedBy != nil {
		var hidden []hub.TaskID
		if blockedBy, hidden, err = t.checkBlockedBy(task, *c.In.BlockedBy, c.By, w); err != nil {
			return Decision[hub.Task]{}, err
		}
		if !slices.Equal(blockedBy, row.BlockedBy) {
			f.BlockedBy, f.Hidden = &blockedBy, hidden
		}
	}
	if f.Status == nil && f.Assignee == nil && f.BlockedBy == nil {
		return Decision[hub.Task]{Answer: func(Position) hub.Task { return row }}, nil
	}
	var messages []MessageDraft
	if f.Assignee != nil {
		messages = task.assigned(c, *f.Assignee)
	}
	return t.decide(task, f, messages, t.unblocked(blockedBy))
}

func checkTransition(from, to hub.TaskStatus) error {
	if slices.Contains(nextStatus[from], to) {
		return nil
	}
	if !slices.Contains(hub.TaskStatuses(), to) {
		return hub.Invalid("status", "there is no such status").With("allowed", hub.TaskStatuses())
	}
	return hub.Invalid("status", "a task that is "+string(from)+" cannot become "+string(to)).
		With("current", from).With("allowed", nextStatus[from])
}

// checkBlockedBy returns the list without repetitions, and the tasks in it that
// direct messages opened. The actor can neither add nor remove a task that it
// may not see.
func (t *Tasks) checkBlockedBy(task *liveTask, given []hub.TaskID, by TaskActor, w TaskWorld) (out, hidden []hub.TaskID, err error) {
	out = make([]hub.TaskID, 0, len(given))
	add := func(id hub.TaskID, direct bool) {
		if out = append(out, id); direct {
			hidden = append(hidden, id)
		}
	}
	for _, id := range given {
		if slices.Contains(out, id) {
			continue
		}
		blocker, live := t.live[id]
		switch {
		case id == task.Task.TaskID:
			return nil, nil, hub.Invalid("blocked_by", "a task cannot wait for itself").With("task_id", id)
		case !t.known(id, by, w):
			return nil, nil, hub.Invalid("blocked_by", "there is no such task to wait for").With("task_id", id)
		case live && len(t.waiting[id]) >= maxWaiting && !slices.Contains(task.Task.BlockedBy, id):
			return nil, nil, hub.Invalid("blocked_by", "too many tasks wait for this one").
				With("task_id", id).With("limit", maxWaiting)
		case live:
			add(id, blocker.Direct)
		default:
			_, direct := w.Ended(by, id)
			add(id, direct)
		}
	}
	for _, id := range task.Hidden {
		if blocker := t.live[id]; blocker != nil && !by.sees(&blocker.StoredTask) {
			add(id, true)
		}
	}
	if len(out) > hub.MaxBlockedBy {
		return nil, nil, hub.Invalid("blocked_by", "a task cannot wait for so many tasks").
			With("limit", hub.MaxBlockedBy).With("size", len(out))
	}
	return out, hidden, t.checkCycle(task, out)
}

// checkCycle refuses a list with which the task would wait for itself. A task
// waits for the tasks in its blocked_by, and a parent waits for its children.
// So the search goes from the task to all tasks that wait for it, and none of
// them may be in the list. A new task waits for nothing, so a new child cannot
// close a cycle before its own blocked_by is set.
func (t *Tasks) checkCycle(task *liveTask, blockedBy []hub.TaskID) error {
	seen := map[hub.TaskID]bool{}
	todo := []*liveTask{task}
	for len(todo) > 0 && len(blockedBy) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		id := next.Task.TaskID
		if seen[id] {
			continue
		}
		if slices.Contains(blockedBy, id) {
			return hub.Invalid("blocked_by", "tasks would wait for each other in a circle").With("task_id", id).
				WithFix("leave this task out: it or one of its subtasks waits for the task that you change")
		}
		if seen[id] = true; len(seen) > maxBlockedWalk {
			return hub.Invalid("blocked_by", "too many tasks wait for this one, directly or through others").With("limit", maxBlockedWalk)
		}
		for waiter := range t.waiting[id] {
			todo = append(todo, t.live[waiter])
		}
		if parent := t.live[value(next.Task.ParentTaskID)]; parent != nil {
			todo = append(todo, parent)
		}
	}
	return nil
}

// unblocked reports whether none of these tasks is live.
func (t *Tasks) unblocked(blockedBy []hub.TaskID) bool {
	return !slices.ContainsFunc(blockedBy, func(id hub.TaskID) bool { return t.live[id] != nil })
}
