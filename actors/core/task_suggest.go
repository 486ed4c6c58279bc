package core

import (
	"fmt"

	"hubcli/hub"
)

// factTaskSuggested is the fact of a free task that an idle agent was told of.
const factTaskSuggested FactType = 405

// TaskSuggested says that an idle agent was told of a task that nobody has. It is a fact, so that each
// task is suggested once, whatever the restarts.
type TaskSuggested struct {
	Task hub.TaskID  `json:"task"`
	To   hub.AgentID `json:"to"`
}

// FactType implements Fact.
func (*TaskSuggested) FactType() FactType { return factTaskSuggested }

// SuggestCommand tells an idle agent of a task.
type SuggestCommand struct {
	Task hub.TaskID
	To   hub.AgentID // an agent without a task, which the notice wakes
}

// Free reports whether a task can be suggested: it stands open in a room, nobody has it or is offered
// it, and no agent was told of it yet. That it is ready is asked for elsewhere.
func Free(t *StoredTask) bool {
	row := &t.Task
	return row.Status == hub.TaskOpen && row.RoomID != nil && row.Assignee == nil && row.OfferedTo == nil && t.Suggested == "" && !t.Direct
}

// Suggest tells an agent of a task that can begin and that nobody has. The task stays free for all:
// the agent need not answer. It decides nothing if the task is not free any more, or waits.
func (t *Tasks) Suggest(c SuggestCommand, _ Now) Decision[struct{}] {
	d := Decision[struct{}]{Answer: func(Position) struct{} { return struct{}{} }}
	task := t.live[c.Task]
	if task == nil || !Free(&task.StoredTask) || !t.ready(task) || task.Task.CreatedBy == c.To {
		return d
	}
	m := systemNotice(fmt.Sprintf("%s can begin and nobody has it, and you have no task. Take it with hub_take {\"task_id\":%d}, or leave it for others.", taskName(&task.Task), c.Task),
		map[string]any{"suggested": suggested{TaskID: c.Task}})
	task.place(&m)
	m.To, m.ReplyTo = c.To, c.Task
	d.Draft = Draft{Facts: []Fact{&TaskSuggested{Task: c.Task, To: c.To}}, Messages: []MessageDraft{m}}
	return d
}

// suggested is the value of metadata.suggested in the notice.
type suggested struct {
	TaskID hub.TaskID `json:"task_id"`
}

func (t *Tasks) suggest(f *TaskSuggested, at Position, rows RowSink) {
	if task := t.live[f.Task]; task != nil {
		task.Suggested, task.SuggestedAt = f.To, at.Now.Wall
		task.put(rows)
	}
}
