package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hubcli/hub"
)

// planTools make the tasks of a plan.
func planTools() []tool {
	return []tool{
		define(tool{
			name: "hub_plan", title: "Plan tasks",
			description: "Split work into tasks of your room, as one run.",
		}, plan),
	}
}

type planIn struct {
	Title          string       `json:"title" jsonschema:"of the run" range:"RunInput.title"`
	Tasks          plannedTasks `json:"tasks" jsonschema:"after: names to wait for"`
	RoomID         string       `json:"room_id,omitempty" jsonschema:"default: yours"`
	New            bool         `json:"new,omitempty" jsonschema:"an agent is still to come"`
	IdempotencyKey string       `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// plannedTasks are the tasks as they are given; readPlan reads them.
type plannedTasks struct{ rawList }

// plannedTask is one task as a model writes it. After names tasks of the plan, by name, by their place
// in the list, beginning with 1, or by a title that no other task has.
type plannedTask struct {
	Title   string            `json:"title"`
	Name    string            `json:"name"`
	After   []json.RawMessage `json:"after"`
	Details string            `json:"details"`
	// Assignee may begin with @.
	Assignee string `json:"assignee"`
	// AfterFailed is checked by the hub.
	AfterFailed hub.AfterFailed `json:"after_failed"`
}

// planned is the answer to hub_plan.
type planned struct {
	RunID hub.RunID             `json:"run_id"`
	Tasks map[string]hub.TaskID `json:"tasks"` // by name
}

func plan(ctx context.Context, c *call, in planIn) (*answer, error) {
	run := hub.RunInput{Title: in.Title, CreatedBy: c.agent(), UnlessNear: !in.New}
	var err error
	if run.Tasks, err = readPlan(in.Tasks.rawList); err != nil {
		return nil, err
	}
	if run.RoomID, err = c.room(ctx, in.RoomID); err != nil {
		return nil, err
	}
	out, err := c.hub().CreateRun(c.key(ctx, in.IdempotencyKey), run)
	if err != nil {
		return nil, err
	}
	p, ready := planned{RunID: out.Row.RunID, Tasks: map[string]hub.TaskID{}}, 0
	given := 0
	for i, id := range out.Row.Planned {
		t := &run.Tasks[i]
		p.Tasks[t.Name] = id
		if len(t.After) == 0 {
			ready++
		}
		if t.Assignee != "" {
			given++
		}
	}
	line := fmt.Sprintf("run %s has %s, %d ready", p.RunID, counted(len(p.Tasks), "task"), ready)
	switch free := len(p.Tasks) - given; {
	case given == 0:
		line += fmt.Sprintf(`. hub_take takes one; to hand one over: hub_update_task {"task_id":%d,"assignee":AGENT}`, out.Row.Planned[0])
	case free > 0:
		line += fmt.Sprintf(", %d for anybody with hub_take", free)
	}
	line += fmt.Sprintf(". hub_watch run-complete:%s: all are done.", p.RunID)
	return &answer{data: p, untrusted: []string{"tasks"}, line: inRoom(line, run.RoomID)}, nil
}

// badPlan refuses the tasks of a plan and shows how to write them.
func badPlan(format string, args ...any) error {
	return hub.Invalid("tasks", fmt.Sprintf(format, args...)).WithFix(hub.PlanExample)
}

// readPlan reads the tasks of a plan. Every task gets a name, and after holds
// names alone.
func readPlan(list rawList) ([]hub.PlannedTask, error) {
	dec := json.NewDecoder(bytes.NewReader(list))
	dec.DisallowUnknownFields()
	var written []plannedTask
	if err := dec.Decode(&written); err != nil {
		return nil, badPlan("tasks cannot be read: %v", err)
	}
	if len(written) == 0 {
		return nil, badPlan("a plan has at least one task")
	}
	tasks, names := make([]hub.PlannedTask, len(written)), map[string]bool{}
	for i, w := range written {
		tasks[i] = hub.PlannedTask{Name: w.Name, Title: w.Title, Details: w.Details, AfterFailed: w.AfterFailed, Assignee: hub.AgentID(strings.TrimPrefix(w.Assignee, "@"))}
		if w.Name == "" {
			tasks[i].Name = strconv.Itoa(i + 1)
		}
		names[tasks[i].Name] = true
	}
	for i, w := range written {
		for _, raw := range w.After {
			name := string(raw)
			if text := ""; json.Unmarshal(raw, &text) == nil {
				name = text
			}
			if n, err := strconv.Atoi(name); err == nil && !names[name] && n >= 1 && n <= len(tasks) {
				name = tasks[n-1].Name
			} else if !names[name] {
				name = titled(tasks, name)
			}
			tasks[i].After = append(tasks[i].After, name)
		}
	}
	return tasks, nil
}

// titled returns the name of the one task with a title, else the text: models name tasks so.
func titled(tasks []hub.PlannedTask, title string) string {
	is := func(t hub.PlannedTask) bool { return t.Title == title }
	first := slices.IndexFunc(tasks, is)
	if first < 0 || slices.ContainsFunc(tasks[first+1:], is) {
		return title
	}
	return tasks[first].Name
}
