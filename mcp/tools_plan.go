package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

// planTools make the tasks of a plan.
func planTools() []tool {
	return []tool{
		define(tool{
			name: "hub_plan", title: "Plan tasks",
			description: "Split work into tasks of your room, with what each waits for, as one run.",
		}, plan),
	}
}

const (
	mostPlanned      = 50     // tasks of one plan
	mostPlannedChars = 32_000 // of one task's details
	mostPlannedName  = 80
)

type planIn struct {
	Title          string `json:"title" jsonschema:"of the run" range:"300"`
	Tasks          string `json:"tasks" jsonschema:"JSON list of {\"title\", \"name\", \"after\": [names that must end first], \"details\"}; only title is required" most:"500000"`
	RoomID         string `json:"room_id,omitempty" jsonschema:"default: your room"`
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// plannedTask is one task of a plan. After names tasks of the plan, by name or
// by their place in the list, beginning with 1.
type plannedTask struct {
	Title   string            `json:"title"`
	Name    string            `json:"name"`
	After   []json.RawMessage `json:"after"`
	Details string            `json:"details"`

	after []int // places of After in the list
}

// planned is the answer to hub_plan.
type planned struct {
	RunID hub.RunID             `json:"run_id"`
	Tasks map[string]hub.TaskID `json:"tasks"` // by name
}

func plan(ctx context.Context, c *call, in planIn) (*answer, error) {
	run := hub.RunInput{Title: in.Title, CreatedBy: c.agent()}
	if err := api.ValidateRun(&run, false); err != nil {
		return nil, err
	}
	tasks, err := readPlan(in.Tasks)
	if err != nil {
		return nil, err
	}
	order, err := planOrder(tasks)
	if err != nil {
		return nil, err
	}
	room, err := c.room(ctx, in.RoomID)
	if err != nil {
		return nil, err
	}
	if in.IdempotencyKey == "" {
		in.IdempotencyKey = c.nonce
	}
	run.RoomID = room
	p, err := c.carryOut(ctx, in.IdempotencyKey, run, tasks, order)
	if err != nil {
		return nil, asError(err).With("tasks", p.Tasks).WithFix(fmt.Sprintf(
			"%d of %d tasks were made. Call hub_plan again with the same arguments and idempotency_key %q: it makes the rest", len(p.Tasks), len(tasks), in.IdempotencyKey))
	}
	ready := 0
	for _, t := range tasks {
		if len(t.after) == 0 {
			ready++
		}
	}
	return &answer{
		data: p, untrusted: []string{"tasks"},
		line: inRoom(fmt.Sprintf("run %s has %s, %d ready. hub_take takes one; hub_watch with run-complete:%s waits for all.",
			p.RunID, counted(len(tasks), "task"), ready, p.RunID), room),
	}, nil
}

// carryOut makes the tasks, in an order in which each stands behind those that
// it waits for, and then the run. Each write has a key made of the call's, so
// that a call that was broken off can be repeated.
func (c *call) carryOut(ctx context.Context, key string, run hub.RunInput, tasks []plannedTask, order []int) (planned, error) {
	p := planned{Tasks: map[string]hub.TaskID{}}
	ids := make([]hub.TaskID, len(tasks))
	for _, at := range order {
		t := &tasks[at]
		body := t.Title
		if t.Details != "" {
			body += "\n\n" + t.Details
		}
		row, _, err := c.send(ctx, hub.PostInput{FromAgent: c.agent(), Channel: run.RoomID.Channel(), Kind: hub.KindTask, Body: body}, keyOf(key, fmt.Sprintf("task %d", at)))
		if err != nil {
			return p, err
		}
		ids[at] = row.ID
		p.Tasks[t.Name] = row.ID
		if len(t.after) == 0 {
			continue
		}
		blockers := make([]hub.TaskID, len(t.after))
		for i, before := range t.after {
			blockers[i] = ids[before]
		}
		waits := keyOf(key, fmt.Sprintf("after %d", at))
		if _, err := c.hub().UpdateTask(c.key(ctx, waits), row.ID, hub.TaskUpdateInput{AgentID: c.agent(), BlockedBy: &blockers}); err != nil {
			return p, err
		}
	}
	run.TaskIDs = ids
	out, err := c.hub().CreateRun(c.key(ctx, keyOf(key, "run")), run)
	p.RunID = out.Row.RunID
	return p, err
}

// badPlan refuses the tasks of a plan and shows how to write them.
func badPlan(format string, args ...any) error {
	return hub.Invalid("tasks", fmt.Sprintf(format, args...)).
		WithFix(`write tasks as [{"name":"schema","title":"Write the schema"},{"title":"Write the API","after":["schema"]}]`)
}

// readPlan reads the tasks of a plan and finds what each waits for.
func readPlan(text string) ([]plannedTask, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var tasks []plannedTask
	if err := dec.Decode(&tasks); err != nil {
		return nil, badPlan("tasks cannot be read: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, badPlan("text follows the list of tasks")
	}
	if len(tasks) == 0 || len(tasks) > mostPlanned {
		return nil, badPlan("a plan has 1 to %d tasks, not %d", mostPlanned, len(tasks))
	}
	places := map[string]int{}
	for i := range tasks {
		if err := tasks[i].check(i + 1); err != nil {
			return nil, err
		}
		if _, twice := places[tasks[i].Name]; twice {
			return nil, badPlan("two tasks have the name %s", quoted(tasks[i].Name, 60))
		}
		places[tasks[i].Name] = i
	}
	for i := range tasks {
		if err := tasks[i].link(places); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// check refuses a task whose texts the hub would refuse, before any is made.
func (t *plannedTask) check(place int) error {
	if t.Name == "" {
		t.Name = strconv.Itoa(place)
	}
	switch {
	case strings.TrimSpace(t.Title) == "" || strings.ContainsAny(t.Title, "\r\n"):
		return badPlan("task %d needs a title of one line", place)
	case chars(t.Title) > 300 || chars(t.Details) > mostPlannedChars:
		return badPlan("task %d is too long: a title has at most 300 characters, details at most %d", place, mostPlannedChars)
	}
	return hub.CheckName("name", t.Name, mostPlannedName)
}

// link finds the places of the tasks that t waits for.
func (t *plannedTask) link(places map[string]int) error {
	for _, raw := range t.After {
		name := string(raw)
		if text := ""; json.Unmarshal(raw, &text) == nil {
			name = text
		}
		at, ok := places[name]
		if n, err := strconv.Atoi(name); !ok && err == nil && n >= 1 && n <= len(places) {
			at, ok = n-1, true
		}
		if !ok {
			return badPlan("task %s waits for %s, and no task of the plan has this name", quoted(t.Name, 60), quoted(name, 60))
		}
		if !slices.Contains(t.after, at) {
			t.after = append(t.after, at)
		}
	}
	return nil
}

// planOrder returns the places of the tasks so that each stands behind those
// that it waits for.
func planOrder(tasks []plannedTask) ([]int, error) {
	var order []int
	placed := make([]bool, len(tasks))
	for len(order) < len(tasks) {
		before := len(order)
		for i := range tasks {
			if !placed[i] && !slices.ContainsFunc(tasks[i].after, func(at int) bool { return !placed[at] }) {
				placed[i] = true
				order = append(order, i)
			}
		}
		if len(order) == before {
			at := slices.Index(placed, false)
			return nil, hub.Invalid("tasks", fmt.Sprintf("task %s waits for itself, over other tasks or directly", quoted(tasks[at].Name, 60))).
				WithFix("leave out one of the names in after")
		}
	}
	return order, nil
}
