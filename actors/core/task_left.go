package core

import (
	"fmt"
	"slices"
	"time"

	"hubcli/hub"
)

// factTaskLeft is the fact of a task whose assignee has gone.
const factTaskLeft FactType = 404

// TaskLeft says that the assignee of a task has gone, or that it is back. It is a fact and no
// question of presence, so that each absence is told once, whatever the restarts.
type TaskLeft struct {
	Task  hub.TaskID `json:"task"`
	Since hub.Time   `json:"since,omitempty"` // when the assignee's last session ended; 0: it is back
}

// FactType implements Fact.
func (*TaskLeft) FactType() FactType { return factTaskLeft }

// LeaveCommand says where an assignee is.
type LeaveCommand struct {
	Agent hub.AgentID
	Since hub.Time     // when its last session ended; 0: it is there
	Due   bool         // that is so long ago that its tasks are left
	Tasks []hub.TaskID // those that the agent had when the caller looked
	// Reads reports whether an agent reads what is said in a room; empty: in no room.
	Reads func(hub.RoomID, hub.AgentID) bool
}

// left is the value of metadata.left in the notices about tasks whose assignee has gone.
type left struct {
	AgentID hub.AgentID  `json:"agent_id"`
	Tasks   []hub.TaskID `json:"tasks"`
	Since   hub.Time     `json:"since"`
	Tell    hub.AgentID  `json:"tell,omitempty"` // the agent that the notice asks to decide
}

// Leave notes that the assignee of tasks has gone or is back. Each task that it leaves is told once:
// in the room of the task, whose creator the same notice wakes if it reads there, and else to the
// creator too. The return of an assignee is told to nobody; one that came back and went again has
// left anew. Which tasks an agent leaves, see Leaves.
func (t *Tasks) Leave(c LeaveCommand, _ Now) Decision[struct{}] {
	d := Decision[struct{}]{Answer: func(Position) struct{} { return struct{}{} }}
	var gone []*liveTask
	for _, id := range slices.Sorted(slices.Values(c.Tasks)) {
		task := t.live[id]
		switch {
		case task == nil || hub.Value(task.Task.Assignee) != c.Agent:
		case Returned(&task.Task, c.Since):
			d.Draft.Facts = append(d.Draft.Facts, &TaskLeft{Task: id})
		case c.Since != 0 && c.Due && Leaves(&task.Task, c.Since):
			d.Draft.Facts = append(d.Draft.Facts, &TaskLeft{Task: id, Since: c.Since})
			gone = append(gone, task)
		}
	}
	d.Draft.Messages = leftNotices(gone, c)
	return d
}

// Leaves reports whether a task that has not ended is left when the last session of its assignee
// ends at a time: it has begun, or it was the assignee's before that time. A task that is given to
// an agent that is not there was not left by it.
func Leaves(task *hub.Task, ended hub.Time) bool {
	return task.AssigneeGoneSince == nil && (task.Status != hub.TaskOpen || task.UpdatedAt < ended)
}

// Returned reports whether a task counts as left since a moment that is not the end of its assignee's
// last session any more.
func Returned(task *hub.Task, ended hub.Time) bool {
	return task.AssigneeGoneSince != nil && *task.AssigneeGoneSince != ended
}

// takesOver reports whether an actor makes itself the assignee of a task that its assignee has
// left. gone says that the assignee is not there now.
func (task *liveTask) takesOver(to hub.AgentID, by TaskActor, gone bool) bool {
	return gone && task.Task.AssigneeGoneSince != nil && to != "" && to == by.Agent
}

// replaced is the error for an agent that ends a task which another agent has taken over while it
// was gone, and nil if the actor may end it.
func (task *liveTask) replaced(by TaskActor) error {
	row := &task.Task
	had := slices.ContainsFunc(task.Former, func(h EarlierHolder) bool { return h.Agent == by.Agent && h.TakenOver })
	if by.Authority == hub.AuthorityOperator || !had || by.Agent == row.CreatedBy || row.Assignee == nil || by.Agent == *row.Assignee {
		return nil
	}
	return hub.Errorf(hub.CodeTaskTaken, "task %d is %s's now: %s had it before", row.TaskID, *row.Assignee, by.Agent).
		With("task_id", row.TaskID).With("assignee", *row.Assignee).With("created_by", row.CreatedBy).
		WithFix("tell " + string(*row.Assignee) + " what you have: it goes on with the task")
}

func (t *Tasks) leave(f *TaskLeft, rows RowSink) {
	if task := t.live[f.Task]; task != nil {
		task.Task.AssigneeGoneSince = Optional(f.Since)
		task.put(rows)
	}
}

// leftNotices tells of the tasks that an agent has left: one notice in each room for each of their
// creators.
func leftNotices(tasks []*liveTask, c LeaveCommand) []MessageDraft {
	type reader struct {
		channel hub.ChannelName
		thread  hub.ThreadID
		room    hub.RoomID
		creator hub.AgentID
		direct  bool
	}
	var readers []reader
	of := map[reader][]*liveTask{}
	for _, task := range tasks {
		row := &task.Task
		r := reader{row.Channel, hub.Value(row.ThreadID), hub.Value(row.RoomID), row.CreatedBy, task.Direct}
		if of[r] == nil {
			readers = append(readers, r)
		}
		of[r] = append(of[r], task)
	}
	var notices []MessageDraft
	for _, r := range readers {
		tell := r.creator
		if tell == c.Agent || tell.Reserved() {
			tell = "" // it is gone, or sees the tasks in its overview
		}
		if !r.direct {
			m := leftNotice(of[r], c, "")
			if tell != "" && c.Reads(r.room, tell) {
				m, tell = leftNotice(of[r], c, tell), ""
			}
			m.Channel, m.Thread, m.Room = r.channel, r.thread, r.room
			notices = append(notices, m)
		}
		if tell != "" {
			m := leftNotice(of[r], c, tell)
			m.Channel, m.Thread, m.Room, m.To = r.channel, r.thread, r.room, tell
			notices = append(notices, m)
		}
	}
	return notices
}

func leftNotice(tasks []*liveTask, c LeaveCommand, tell hub.AgentID) MessageDraft {
	list, ids := namesOf(tasks, taskPhrase)
	text := fmt.Sprintf("%s, which has %s, is gone: its session ended over %d minutes ago. To go on with the work, call hub_take {\"task_id\":%d}; the claims and locks that %s took for it come along.",
		c.Agent, list, int(hub.TaskLeftAfter/time.Minute), ids[0], c.Agent)
	n := systemNotice(text, map[string]any{"left": left{AgentID: c.Agent, Tasks: ids, Since: c.Since, Tell: tell}})
	n.ReplyTo = ids[0]
	return n
}
