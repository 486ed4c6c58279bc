package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"hubcli/hub"
)

func (f *fakeHub) Post(_ context.Context, in hub.PostInput) (hub.Posted, error) {
	err := f.note("post %s %s %s %q", in.FromAgent, in.Channel, in.Kind, in.Body)
	f.tasks = append(f.tasks, hub.Task{TaskID: hub.TaskID(len(f.tasks) + 1), CreatedBy: in.FromAgent, ThreadID: &in.ThreadID, Status: hub.TaskOpen})
	row, _ := json.Marshal(hub.Message{ID: hub.MessageID(len(f.tasks)), FromAgent: in.FromAgent, Kind: in.Kind, Body: in.Body})
	return hub.Posted{Outcome: hub.Outcome[hub.EncodedMessage]{Row: row}}, err
}

func (f *fakeHub) Tasks(_ context.Context, q hub.TasksQuery) (rows []hub.Task, _ hub.Cursor, _ error) {
	for _, row := range f.tasks {
		if *row.ThreadID == q.ThreadID && row.CreatedBy == q.CreatedBy && row.Status == hub.TaskOpen {
			rows = append(rows, row)
		}
	}
	return rows, "", f.note("tasks")
}

func (f *fakeHub) UpdateTask(_ context.Context, id hub.TaskID, in hub.TaskUpdateInput) (hub.Outcome[hub.Task], error) {
	return hub.Outcome[hub.Task]{}, f.note("assign %d to %s", id, *in.Assignee)
}

func (f *fakeHub) CompleteTask(_ context.Context, id hub.TaskID, in hub.CompleteInput) (hub.Outcome[hub.Task], error) {
	f.tasks[id-1].Status = hub.TaskDone
	return hub.Outcome[hub.Task]{}, f.note("complete %d by %s", id, in.AgentID)
}

// TestOwnTasksStandInTheRoom: a task of a harness's own list stands among those of the room, once, if its user wants that, and
// ends there with it. Tasks of sub-agents, and what cannot be read, do not.
func TestOwnTasksStandInTheRoom(t *testing.T) {
	const task = `,"task_id":"3","task_subject":"Write the till","task_description":" It rounds. "`
	w := begun(t)
	run := func(event Event, members string, want ...string) {
		t.Helper()
		w.hub.calls = nil
		w.later()
		w.Flag = string(hub.HarnessClaudeCode)
		if got := w.Run(t.Context(), event, []byte(`{`+session+members+`}`)); got != (Answer{}) {
			t.Errorf("%s: it says %+v", event, got)
		}
		w.asked(t, want...)
	}
	run(TaskCreated, task)
	w.vars[EnvMirrorTasks] = "1"
	run(TaskCreated, task, "info", "tasks", fmt.Sprintf("post %s room-r_5 task %q", agent, "Write the till\n\nIt rounds."), fmt.Sprintf("assign 1 to %s", agent))
	run(TaskCreated, task, "info", "tasks")
	run(TaskCreated, ofSub+task)
	run(TaskCreated, `,"task_id":"4"`)
	run(TaskDone, `,"task_id":"9","task_subject":"Another"`, "info", "tasks")
	run(TaskDone, task, "info", "tasks", fmt.Sprintf("complete 1 by %s", agent))
	run(TaskDone, task, "info", "tasks")
}
