package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

const (
	// maxWaiting bounds the tasks that may wait for one task, because its end
	// writes a row for each of them.
	maxWaiting = 500
	// maxBlockedWalk bounds the search for a cycle.
	maxBlockedWalk = 10_000
)

// changeBlockedBy enters a new list of the tasks to wait for into f, if it
// differs from the list that the task has.
func (t *Tasks) changeBlockedBy(task *liveTask, f *TaskChanged, c UpdateCommand, w TaskWorld) error {
	decided := task.undecided(f)
	if decided && !task.decides(c.By) {
		return task.errUndecided()
	}
	next, err := t.checkBlockedBy(task, *c.In.BlockedBy, c.By, w)
	if err != nil {
		return err
	}
	switch {
	case decided: // whatever the list is: it goes on
		f.BlockedBy, f.Hidden = &next.ids, next.hidden
	case !slices.Equal(next.ids, task.Task.BlockedBy):
		if next.lost && !task.decides(c.By) {
			return hub.Invalid("blocked_by", "only the creator of a task or the operator lets it wait for one that has failed or was cancelled").
				WithFix("leave that task out")
		}
		f.BlockedBy, f.Hidden, f.Lost = &next.ids, next.hidden, next.lost
	}
	return nil
}

// blockers returns the tasks for which the task waits after f.
func (f *TaskChanged) blockers(task *liveTask) []hub.TaskID {
	if f.BlockedBy != nil {
		return *f.BlockedBy
	}
	return task.Task.BlockedBy
}

// undecided reports whether, before f, a task has not begun since one that it waited for failed or
// was cancelled: its creator or the operator decides whether it goes on, and says so with a new
// blocked_by, or begins it.
func (task *liveTask) undecided(f *TaskChanged) bool {
	return task.Task.Status == hub.TaskOpen && task.lost() && f.BlockedBy == nil
}

// lost reports whether the task may not begin because one that it waited for has failed or was
// cancelled.
func (task *liveTask) lost() bool { return task.Lost && !task.GoesOn && !task.Forced }

// decides reports whether the actor may say that the task goes on.
func (task *liveTask) decides(by TaskActor) bool {
	return by.Authority == hub.AuthorityOperator || by.Agent == task.Task.CreatedBy
}

func (task *liveTask) errUndecided() *hub.Error {
	id, maker := task.Task.TaskID, task.Task.CreatedBy
	return hub.Errorf(hub.CodeUndecided, "task %d waited for a task that has failed or was cancelled; %s or the operator decides whether it goes on", id, maker).
		With("task_id", id).With("decides", maker)
}

// ready reports whether nothing keeps a task that has not ended from beginning.
func (t *Tasks) ready(task *liveTask) bool {
	return t.unblocked(task.Task.BlockedBy) && !(task.Task.Status == hub.TaskOpen && task.lost())
}

// readyAfter is ready for the task as f changes it.
func (t *Tasks) readyAfter(task *liveTask, f *TaskChanged) bool {
	after := *task
	after.Forced = after.Forced || f.Forced
	if f.BlockedBy != nil {
		after.Task.BlockedBy, after.Lost, after.Forced = *f.BlockedBy, f.Lost, f.Forced
	}
	if f.Status != nil {
		after.Task.Status = *f.Status
	}
	return t.ready(&after)
}

// checkBlocked refuses to begin or complete a task while a task that it waits
// for has not ended, and one that another agent has to decide about. With force
// it notes in f that the actor did so although the task was blocked, and that
// holds until blocked_by changes. Roll-up does not ask: the work of a parent is
// that of its subtasks.
func (t *Tasks) checkBlocked(task *liveTask, f *TaskChanged, by TaskActor, force bool) error {
	if f.Status == nil || *f.Status != hub.TaskWorking && *f.Status != hub.TaskDone {
		return nil
	}
	wait, undecided := f.blockers(task), task.undecided(f) && !task.decides(by)
	free := t.unblocked(wait)
	switch {
	case free && !undecided || task.Forced && f.BlockedBy == nil:
		return nil
	case undecided && (free || force): // nobody forces what another agent decides
		return task.errUndecided()
	case force:
		f.Forced = true
		return nil
	}
	return t.blocked(task.Task.TaskID, wait, by)
}

// blocked is the error for a task that waits for others. It names those that
// the actor may see.
func (t *Tasks) blocked(id hub.TaskID, wait []hub.TaskID, by TaskActor) *hub.Error {
	open, names := []hub.TaskID{}, []string{}
	for _, id := range wait {
		if blocker := t.live[id]; blocker != nil && by.sees(&blocker.StoredTask) {
			open, names = append(open, id), append(names, fmt.Sprint(id))
		}
	}
	list := "tasks " + strings.Join(names, ", ")
	switch len(names) {
	case 0:
		list = "tasks that " + cmp.Or(string(by.Agent), "the caller") + " may not see"
	case 1:
		list = "task " + names[0]
	}
	return hub.Errorf(hub.CodeBlocked, "task %d waits for %s", id, list).
		With("task_id", id).With("blocked_by", open)
}

// blockers is a checked list of the tasks that a task waits for.
type blockers struct {
	ids    []hub.TaskID
	hidden []hub.TaskID // those that direct messages opened
	lost   bool         // one of them has failed or was cancelled
}

func (b *blockers) add(t *StoredTask) {
	b.ids = append(b.ids, t.Task.TaskID)
	if t.Direct {
		b.hidden = append(b.hidden, t.Task.TaskID)
	}
	b.lost = b.lost || t.Task.Status.Terminal() && t.Task.Status != hub.TaskDone
}

// checkBlockedBy returns the list without repetitions. The actor can neither
// add nor remove a task that it may not see. task may be new: then it has no id
// yet.
func (t *Tasks) checkBlockedBy(task *liveTask, given []hub.TaskID, by TaskActor, w TaskWorld) (out blockers, err error) {
	out.ids = make([]hub.TaskID, 0, len(given))
	for _, id := range given {
		if slices.Contains(out.ids, id) {
			continue
		}
		blocker, live := t.live[id]
		switch {
		case id == task.Task.TaskID:
			return out, hub.Invalid("blocked_by", "a task cannot wait for itself").With("task_id", id)
		case live && !by.sees(&blocker.StoredTask):
			return out, noBlocker(id)
		case live && len(t.waiting[id]) >= maxWaiting && !slices.Contains(task.Task.BlockedBy, id):
			return out, hub.Invalid("blocked_by", "too many tasks wait for this one").
				With("task_id", id).With("limit", maxWaiting)
		case live:
			out.add(&blocker.StoredTask)
		default:
			ended, sees := w.Ended(by, id)
			if !sees {
				return out, noBlocker(id)
			}
			out.add(&ended)
		}
	}
	for _, id := range task.Hidden {
		if blocker := t.live[id]; blocker != nil && !by.sees(&blocker.StoredTask) {
			out.add(&blocker.StoredTask)
		}
	}
	if len(out.ids) > hub.MaxBlockedBy {
		return out, hub.Invalid("blocked_by", "a task cannot wait for so many tasks").
			With("limit", hub.MaxBlockedBy).With("size", len(out.ids))
	}
	return out, t.checkCycle(task, out.ids)
}

func noBlocker(id hub.TaskID) *hub.Error {
	return hub.Invalid("blocked_by", "there is no such task to wait for").With("task_id", id).
		WithFix("name a task by the number of the message that opened it")
}

// checkCycle refuses a list with which the task would wait for itself. A task
// waits for the tasks in its blocked_by, and a parent waits for its children.
// So the search goes from the task to all tasks that wait for it, and none of
// them may be in the list. Only the parent waits for a new task.
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
		if parent := t.live[hub.Value(next.Task.ParentTaskID)]; parent != nil {
			todo = append(todo, parent)
		}
	}
	return nil
}

// unblocked reports whether none of these tasks is live.
func (t *Tasks) unblocked(blockedBy []hub.TaskID) bool {
	return !slices.ContainsFunc(blockedBy, func(id hub.TaskID) bool { return t.live[id] != nil })
}
