package core

import (
	"encoding/json"
	"errors"
	"fmt"

	"hubcli/hub"
)

// TasksVersion is the version of what Snapshot writes. Version 1 has no runs
// and no offers. Version 2 has neither the agent asked first nor the hidden
// blockers. Version 3 says neither whether a blocker has failed nor whether a
// blocked task was forced. Version 4 has no former assignees.
const TasksVersion uint16 = 5

type tasksSnapshot struct {
	Tasks    []*liveTask  `json:"tasks"`          // by id
	Runs     []*StoredRun `json:"runs,omitempty"` // oldest first
	RunEnded hub.Seq      `json:"run_ended,omitempty"`
}

// Snapshot returns the state; equal states give equal bytes.
func (t *Tasks) Snapshot() []byte {
	s := tasksSnapshot{Tasks: make([]*liveTask, 0, len(t.live)), Runs: t.sortedRuns(), RunEnded: t.runEnded}
	for _, id := range sortedIDs(t.live) {
		s.Tasks = append(s.Tasks, t.live[id])
	}
	return mustJSON(s)
}

// RestoreTasks returns the state that a snapshot of this version holds.
func RestoreTasks(version uint16, data []byte) (*Tasks, error) {
	if err := CheckVersion("tasks", version, TasksVersion); err != nil {
		return nil, err
	}
	var s tasksSnapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("core: tasks: %w", err)
	}
	t := NewTasks()
	t.runEnded = s.RunEnded
	for _, task := range s.Tasks {
		if task == nil || t.live[task.Task.TaskID] != nil {
			return nil, errors.New("core: tasks: a task is missing or stands twice")
		}
		if version < 3 && task.Direct {
			task.Asked = hub.Value(task.Task.Assignee)
		}
		t.live[task.Task.TaskID] = task
	}
	for _, task := range t.live {
		t.count(task, 1)
		t.link(task)
		if version < 3 {
			t.hide(task)
		}
		task.Task.Ready = t.ready(task) // an earlier program called a task behind a failed one ready
	}
	for _, run := range s.Runs {
		if run == nil || t.runs[run.Run.RunID] != nil {
			return nil, errors.New("core: tasks: a run is missing or stands twice")
		}
		t.runs[run.Run.RunID] = run
	}
	return t, nil
}

// hide fills in, for an older snapshot and as far as the state knows, which of
// the tasks that this one waits for were opened by direct messages.
func (t *Tasks) hide(task *liveTask) {
	for _, id := range task.Task.BlockedBy {
		if blocker := t.live[id]; blocker != nil && blocker.Direct {
			task.Hidden = append(task.Hidden, id)
		}
	}
}
