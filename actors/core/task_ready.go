package core

import (
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

// The reasons of the notices about tasks that waited.
const (
	wakeTaskReady     = "task_ready"
	wakeBlockerFailed = "blocker_failed"
)

// maxNoticeTitles bounds the tasks that one notice names. Its metadata has the
// ids of all.
const maxNoticeTitles = 10

// waitNotices tells of the tasks that waited for the tasks in ended. A task
// whose last blocker ends as done can begin, and so can one that goes on after a
// failed task. Its assignee or the agent that it is offered to learns it. If there
// is neither, the task's channel learns it. If a blocker ends in another way, the creator of the waiting task learns
// that, and again when no blocker is left. Tasks with the same reader share one notice.
//
// No notice names a blocker, because an agent that may see a task may not see
// every task that it waits for.
func (t *Tasks) waitNotices(ended []Fact) []MessageDraft {
	end := map[hub.TaskID]hub.TaskStatus{}
	for _, f := range ended {
		if f, ok := f.(*TaskChanged); ok {
			end[f.Task] = *f.Status
		}
	}
	ready, stuck := map[hub.TaskID]struct{}{}, map[hub.TaskID]struct{}{}
	for id, status := range end {
		for waiter := range t.waiting[id] {
			_, over := end[waiter]
			switch {
			case over:
			case status != hub.TaskDone && !t.live[waiter].GoesOn:
				stuck[waiter] = struct{}{}
			case !t.waitsOnlyFor(t.live[waiter], end):
			case t.live[waiter].Lost && !t.live[waiter].GoesOn:
				stuck[waiter] = struct{}{}
			default:
				ready[waiter] = struct{}{}
			}
		}
	}
	return append(t.groupNotices(ready, wakeTaskReady), t.groupNotices(stuck, wakeBlockerFailed)...)
}

// waitsOnlyFor reports whether all live blockers of the task are in end.
func (t *Tasks) waitsOnlyFor(task *liveTask, end map[hub.TaskID]hub.TaskStatus) bool {
	return !slices.ContainsFunc(task.Task.BlockedBy, func(id hub.TaskID) bool {
		_, ends := end[id]
		return t.live[id] != nil && !ends
	})
}

// groupNotices returns one notice for each reader of the tasks, in the order of
// the tasks.
func (t *Tasks) groupNotices(tasks map[hub.TaskID]struct{}, reason string) []MessageDraft {
	type reader struct {
		to      hub.AgentID
		channel hub.ChannelName
		thread  hub.ThreadID
		room    hub.RoomID
	}
	var readers []reader
	of := map[reader][]*liveTask{}
	for _, id := range sortedIDs(tasks) {
		task := t.live[id]
		var m MessageDraft
		task.placeWait(&m, reason)
		r := reader{m.To, m.Channel, m.Thread, m.Room}
		if of[r] == nil {
			readers = append(readers, r)
		}
		of[r] = append(of[r], task)
	}
	notices := make([]MessageDraft, 0, len(readers))
	for _, r := range readers {
		notices = append(notices, waitNotice(of[r], reason))
	}
	return notices
}

// placeWait addresses a notice about a task that waited.
func (task *liveTask) placeWait(m *MessageDraft, reason string) {
	task.place(m)
	row := &task.Task
	switch {
	case reason == wakeBlockerFailed:
		m.To = row.CreatedBy
	case row.OfferedTo != nil:
		m.To = *row.OfferedTo
	case row.Assignee != nil:
		m.To = *row.Assignee
	}
}

// namesOf returns the names of tasks for a notice, as far as one names them, and the ids of all.
func namesOf(tasks []*liveTask, name func(*hub.Task) string) (list string, ids []hub.TaskID) {
	names := make([]string, 0, len(tasks))
	for _, task := range tasks {
		ids = append(ids, task.Task.TaskID)
		if len(names) < maxNoticeTitles {
			names = append(names, name(&task.Task))
		}
	}
	list = strings.Join(names, ", ")
	if more := len(tasks) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list, ids
}

// waitNotice is the notice about tasks that have the same reader.
func waitNotice(tasks []*liveTask, reason string) MessageDraft {
	list, ids := namesOf(tasks, taskName)
	text := list + " can begin."
	switch {
	case reason == wakeBlockerFailed && len(tasks) == 1:
		text = list + " waited for a task that has failed or was cancelled. If it has not begun, nobody begins it before you decide: set its blocked_by anew, such as to an empty list, if it goes on; cancel it if not."
	case reason == wakeBlockerFailed:
		text = list + " waited for a task that has failed or was cancelled. What has not begun is begun by nobody before you decide: set its blocked_by anew, such as to an empty list, if it goes on; cancel it if not."
	}
	n := systemNotice(text, map[string]any{"wake": wake{Reason: reason, Matched: ids, SinceID: ids[0]}})
	tasks[0].placeWait(&n, reason)
	n.ReplyTo = ids[0]
	return n
}
