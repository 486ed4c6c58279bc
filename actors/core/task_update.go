package core

import (
	"slices"

	"hubcli/hub"
)

const (
	// maxWaiting bounds how many tasks may wait for one, because the end of that
	// one writes a row for each of them.
	maxWaiting = 500
	// maxBlockedWalk bounds the search for a cycle.
	maxBlockedWalk = 10_000
)

// nextStatus lists the states that a task may go to from each.
var nextStatus = map[hub.TaskStatus][]hub.TaskStatus{
	hub.TaskOpen:          {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
	hub.TaskWorking:       {hub.TaskInputRequired, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
	hub.TaskInputRequired: {hub.TaskWorking, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled},
}

// Update changes status, assignee or what the task waits for; a change to what
// is so already counts as none and leaves the version. ErrNotLive,
// task_not_found (not the actor's to see), version_conflict, task_taken, invalid,
// invalid_agent_id.
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
		if blockedBy, err = t.checkBlockedBy(task, *c.In.BlockedBy, c.By, w); err != nil {
			return Decision[hub.Task]{}, err
		}
		if !slices.Equal(blockedBy, row.BlockedBy) {
			f.BlockedBy = &blockedBy
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

// checkBlockedBy returns the list without repetitions.
func (t *Tasks) checkBlockedBy(task *liveTask, given []hub.TaskID, by TaskActor, w TaskWorld) ([]hub.TaskID, error) {
	if len(given) > hub.MaxBlockedBy {
		return nil, hub.Invalid("blocked_by", "a task cannot wait for so many tasks").
			With("limit", hub.MaxBlockedBy).With("size", len(given))
	}
	out := make([]hub.TaskID, 0, len(given))
	for _, id := range given {
		if slices.Contains(out, id) {
			continue
		}
		blocker, live := t.live[id]
		switch {
		case id == task.Task.TaskID:
			return nil, hub.Invalid("blocked_by", "a task cannot wait for itself").With("task_id", id)
		case live && !by.sees(&blocker.StoredTask), !live && !w.Ended(by, id):
			return nil, hub.Invalid("blocked_by", "there is no such task to wait for").With("task_id", id)
		case live && len(t.waiting[id]) >= maxWaiting && !slices.Contains(task.Task.BlockedBy, id):
			return nil, hub.Invalid("blocked_by", "too many tasks wait for this one").
				With("task_id", id).With("limit", maxWaiting)
		}
		out = append(out, id)
	}
	return out, t.checkCycle(task.Task.TaskID, out)
}

// checkCycle refuses a list from which the task itself can be reached. The tasks
// that are live now have no cycle among them, because each list was checked.
func (t *Tasks) checkCycle(id hub.TaskID, blockedBy []hub.TaskID) error {
	seen := map[hub.TaskID]bool{}
	todo := slices.Clone(blockedBy)
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next == id {
			return hub.Invalid("blocked_by", "tasks would wait for each other in a circle").With("task_id", id)
		}
		task, live := t.live[next]
		if seen[next] || !live {
			continue
		}
		if seen[next] = true; len(seen) > maxBlockedWalk {
			return hub.Invalid("blocked_by", "too many tasks wait for each other").With("limit", maxBlockedWalk)
		}
		todo = append(todo, task.Task.BlockedBy...)
	}
	return nil
}

// unblocked reports whether none of these tasks is live.
func (t *Tasks) unblocked(blockedBy []hub.TaskID) bool {
	return !slices.ContainsFunc(blockedBy, func(id hub.TaskID) bool { return t.live[id] != nil })
}
