package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"hubcli/hub"
)

// wake is the metadata that tells a waiting harness why it is woken.
type wake struct {
	Reason  string        `json:"reason"`
	Matched []hub.TaskID  `json:"matched"`
	SinceID hub.MessageID `json:"since_id"`
}

// The reasons of the notices of a rollup.
const (
	wakeTaskCompleted  = "task_completed"
	wakeChildFailed    = "child_failed"
	wakeChildCancelled = "child_cancelled"
)

// end returns the draft that ends a task: the change itself, then, level by
// level, the parents that become done, and a notice for each. Notices about
// the runs that end and the tasks that waited follow. messages come before all
// notices. The draft is one record; if that would be too large, all
// of it is refused.
func (t *Tasks) end(f *TaskChanged, messages []MessageDraft) (Draft, error) {
	d := Draft{Facts: []Fact{f}, Messages: messages}
	task := t.live[f.Task]
	changed := map[hub.TaskID]bool{}
	t.markEnd(changed, f.Task)
	child, status := task, *f.Status
	for {
		parent := t.live[hub.Value(child.Task.ParentTaskID)]
		if parent == nil {
			break
		}
		if status != hub.TaskDone {
			d.Messages = append(d.Messages, childNotice(parent, child, status))
			break
		}
		// parent.Open still counts child.
		if parent.Open > 1 || parent.Failed > 0 {
			break
		}
		d.Facts = append(d.Facts, endedWith(parent.Task.TaskID, hub.TaskDone, len(d.Messages)))
		d.Messages = append(d.Messages, doneNotice(parent, task))
		t.markEnd(changed, parent.Task.TaskID)
		child = parent
	}
	notices, runs := t.runsEnding(d.Facts)
	d.Messages = append(append(d.Messages, notices...), t.waitNotices(d.Facts)...)
	if rows := len(changed) + len(d.Messages) + runs; rows > hub.MaxRecordRows {
		return Draft{}, hub.Errorf(hub.CodeInvalid, "the end of task %d would change too many tasks in one step", f.Task).
			With("limit", hub.MaxRecordRows).With("size", rows).
			WithFix("take the task or its parents out of the blocked_by of some tasks first")
	}
	return d, nil
}

// markEnd adds the tasks whose rows change when task id ends.
func (t *Tasks) markEnd(changed map[hub.TaskID]bool, id hub.TaskID) {
	changed[id] = true
	for waiter := range t.waiting[id] {
		changed[waiter] = true
	}
}

// doneNotice says that a parent is done. It names no child, because an agent
// that may see the parent may not see every child.
func doneNotice(parent, cause *liveTask) MessageDraft {
	id := parent.Task.TaskID
	n := systemNotice(taskName(&parent.Task)+" is done: all its subtasks are done.", map[string]any{
		"task_completed": id,
		"wake":           wake{Reason: wakeTaskCompleted, Matched: []hub.TaskID{id}, SinceID: cause.Task.TaskID},
	})
	parent.notify(&n)
	return n
}

// childNotice says that a child of parent has failed or was cancelled. It omits
// the title of a child that a direct message opened: only the parties of the
// message may see the title.
func childNotice(parent, child *liveTask, status hub.TaskStatus) MessageDraft {
	reason, what := wakeChildFailed, "has failed"
	if status == hub.TaskCancelled {
		reason, what = wakeChildCancelled, "was cancelled"
	}
	name := taskName(&child.Task)
	if child.Direct {
		name = "Task " + strconv.FormatInt(int64(child.Task.TaskID), 10)
	}
	n := systemNotice(fmt.Sprintf("%s %s. Its parent, task %d, stays open.", name, what, parent.Task.TaskID), map[string]any{
		"wake": wake{Reason: reason, Matched: []hub.TaskID{child.Task.TaskID}, SinceID: child.Task.TaskID},
	})
	parent.notify(&n)
	return n
}

// notify addresses a notice to the agents that follow the task.
func (task *liveTask) notify(n *MessageDraft) {
	task.place(n)
	n.ReplyTo, n.Whole = task.Task.TaskID, true
}

// withTaskCompleted adds the mark of a message that completes a task. metadata
// is a compact JSON object without that mark, because clients may not send it.
func withTaskCompleted(metadata json.RawMessage, id hub.TaskID) json.RawMessage {
	out := []byte{'{'}
	if len(metadata) > len("{}") {
		out = append(slices.Clone(metadata[:len(metadata)-1]), ',')
	}
	out = append(out, `"task_completed":`...)
	out = strconv.AppendInt(out, int64(id), 10)
	return append(out, '}')
}
