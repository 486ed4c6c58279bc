package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// planned3 is a plan of three tasks that are not in order. They name each other
// by name, by place and by place as text.
const planned3 = `[{"title":"Release","after":["api","3"]},{"name":"api","title":"Write the API","after":[3],"details":"with tests"},{"title":"Write the schema"}]`

// TestPlan: one call makes the tasks of a run, and each waits for what its plan
// says; only what waits for nothing is ready.
func TestPlan(t *testing.T) {
	lead, dev, _ := team(t, 0)
	var p planned
	lead.must("hub_plan", args{"title": "Version 2", "tasks": planned3}, &p)
	if len(p.Tasks) != 3 {
		t.Fatalf("planned is %+v", p)
	}
	release, api, schema := p.Tasks["1"], p.Tasks["api"], p.Tasks["3"]
	for id, want := range map[hub.TaskID][]hub.TaskID{release: {schema, api}, api: {schema}, schema: nil} {
		task, err := lead.hub.Task(t.Context(), id, "lead")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(task.BlockedBy)
		slices.Sort(want)
		if !slices.Equal(task.BlockedBy, want) || task.Ready != (want == nil) || hub.Value(task.RunID) != p.RunID || task.CreatedBy != "lead" {
			t.Errorf("the task is %+v, and is to wait for %v", task, want)
		}
	}
	var got taken
	if dev.must("hub_take", nil, &got); got.Task == nil || got.Task.TaskID != schema {
		t.Errorf("dev takes %+v", got)
	}
	dev.must("hub_done", args{"task_id": schema}, nil)
	if dev.must("hub_take", nil, &got); got.Task == nil || got.Task.TaskID != api {
		t.Errorf("then dev takes %+v", got)
	}
}

// TestPlanIsRepeated: a plan under a key is made once, and its answer stays the
// same when more tasks join the run.
func TestPlanIsRepeated(t *testing.T) {
	lead, _, _ := team(t, 0)
	tasks := make([]args, hub.MaxPlanTasks)
	for i := range tasks {
		tasks[i] = args{"title": fmt.Sprintf("task %d", i+1)}
		if i > 0 {
			tasks[i]["after"] = []int{i}
		}
	}
	a := args{"title": "Version 2", "tasks": tasks, "idempotency_key": "k"}
	var p, again planned
	lead.must("hub_plan", a, &p)
	late, err := lead.hub.Post(t.Context(), hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "late", Metadata: []byte(`{"run_id":"` + string(p.RunID) + `"}`)})
	require.NoError(t, err)
	lead.must("hub_plan", a, &again)
	if p.RunID != again.RunID || len(p.Tasks) != hub.MaxPlanTasks || !maps.Equal(p.Tasks, again.Tasks) {
		t.Errorf("the plan is made as %+v and again as %+v", p, again)
	}
	rows, _, err := lead.hub.Tasks(t.Context(), hub.TasksQuery{Viewer: "lead", Active: true, Limit: hub.MaxPageRows})
	if err != nil || len(rows) != hub.MaxPlanTasks+1 {
		t.Errorf("there are %d tasks of a plan with %d and %v, %v", len(rows), hub.MaxPlanTasks, late.Row, err)
	}
}

// TestBadPlansMakeNothing: a plan that cannot be carried out is refused before
// its first task is made.
func TestBadPlansMakeNothing(t *testing.T) {
	lead, _, _ := team(t, 0)
	for tasks, word := range map[string]string{
		`[]`: "at least one", `{}`: "title", `[{"title":"a"}] x`: "must be of type object", `7`: "must be of type object", `[{"title":""}]`: "title", `[{"title":"a\nb"}]`: "one line",
		`[{"title":"a","after":["b"]}]`: "no task of the plan", `[{"title":"a","after":[1]}]`: "waits for itself", `[{"title":"a","afterwards":[1]}]`: "afterwards",
		`[{"name":"x","title":"a"},{"name":"x","title":"b"}]`:          "two tasks",
		`[{"title":"a","after":["2"]},{"title":"b","after":["1"]}]`:    "waits for itself",
		`[{"title":"` + strings.Repeat("x", 301) + `"}]`:               "too long",
		`[` + strings.Repeat(`{"title":"a"},`, 100) + `{"title":"b"}]`: "so many",
		`[{"name":"` + strings.Repeat("n", 81) + `","title":"a"}]`:     "too long",
		`[{"title":"a","after":[{}]}]`:                                 "no task of the plan",
		`[{"title":"a","after":"b"},{"name":"b","title":"b"}]`:         "cannot be read",
	} {
		if said := lead.refused("hub_plan", args{"title": "x", "tasks": tasks}); !strings.Contains(said, word) || !strings.Contains(said, "fix: ") {
			t.Errorf("%.60s: %q, wants a word of %q", tasks, said, word)
		}
	}
	for _, title := range []string{"", " ", "a\x01", strings.Repeat("x", 301)} {
		lead.refused("hub_plan", args{"title": title, "tasks": planned3})
	}
	if tasks, _, err := lead.hub.Tasks(t.Context(), hub.TasksQuery{Viewer: "lead"}); err != nil || len(tasks) != 0 {
		t.Errorf("%d tasks were made, %v", len(tasks), err)
	}
}

// TestPlanForAgents: a plan gives tasks to agents. Each takes its own without naming it, before those
// that nobody has, and the lead learns how many are left.
func TestPlanForAgents(t *testing.T) {
	lead, dev, _ := team(t, 0)
	var p planned
	const tasks = `[{"title":"a"},{"title":"b","assignee":"@dev"},{"title":"c","assignee":"lead","after":["1"]}]`
	said := text(lead.try("hub_plan", args{"title": "u", "tasks": tasks}))
	lead.must("hub_plan", args{"title": "v", "tasks": tasks}, &p)
	if !strings.Contains(said, "has 3 tasks, 2 ready, 1 for anybody with hub_take. hub_watch") {
		t.Errorf("the lead is told %q", said)
	}
	var got taken
	for _, want := range []hub.TaskID{p.Tasks["2"] - 3, p.Tasks["2"], p.Tasks["1"] - 3} {
		if dev.must("hub_take", nil, &got); got.Task == nil || got.Task.TaskID != want {
			t.Errorf("dev takes %+v, want task %d", got.Task, want)
		}
	}
	if lead.must("hub_take", nil, &got); got.Task == nil || got.Task.TaskID != p.Tasks["1"] {
		t.Errorf("lead takes %+v", got.Task)
	}
	for _, agent := range []string{"all", "dev.watch", "deev"} {
		lead.refused("hub_plan", args{"title": "v", "tasks": fmt.Sprintf(`[{"title":"a","assignee":%q}]`, agent)})
	}
	lead.must("hub_plan", args{"title": "v", "tasks": `[{"title":"a","assignee":"deev"}]`, "new": true}, nil)
}

// TestRequestForATask: a request that names a task gives that task to an agent, with the words of the
// request, and opens no other.
func TestRequestForATask(t *testing.T) {
	lead, dev, _ := team(t, 0)
	var p planned
	lead.must("hub_plan", args{"title": "v", "tasks": `[{"title":"a"},{"title":"b"}]`}, &p)
	id := p.Tasks["2"]
	said := text(lead.try("hub_dm", args{"to_agent": "dev", "kind": "task_request", "task_id": id, "body": "begin with the tests"}))
	if want := fmt.Sprintf("Task #%d is open, assigned to dev, and it has your words.", id); !strings.Contains(said, want) {
		t.Errorf("the lead is told %q, want %q", said, want)
	}
	if read := text(dev.try("hub_poll_messages", args{"timeout_seconds": 0})); !strings.Contains(read, "begin with the tests") {
		t.Errorf("dev reads %q", read)
	}
	var got taken
	if dev.must("hub_take", nil, &got); got.Task == nil || got.Task.TaskID != id {
		t.Errorf("dev takes %+v", got)
	}
	tasks, _, err := lead.hub.Tasks(t.Context(), hub.TasksQuery{Viewer: "lead", Limit: 10})
	if err != nil || len(tasks) != 2 {
		t.Errorf("there are %d tasks, %v", len(tasks), err)
	}
	lead.must("hub_dm", args{"to_agent": "dev", "task_id": id, "body": "and hurry"}, nil)
	lead.refused("hub_dm", args{"to_agent": "dev", "kind": "chat", "task_id": id, "body": "x"})
	lead.refused("hub_dm", args{"to_agent": "dev", "task_id": id, "body": "x", "thread_id": "t"})
	lead.refused("hub_dm", args{"to_agent": "dev", "task_id": 999, "body": "x"})
}

// TestPlanNamesTasksByTitle: a title that one other task has names it in after; one that two have names none.
func TestPlanNamesTasksByTitle(t *testing.T) {
	lead, _, _ := team(t, 0)
	var p planned
	lead.must("hub_plan", args{"title": "v", "tasks": `[{"title":"Write the schema","name":"s"},{"title":"Write the API","after":["Write the schema"]}]`}, &p)
	task, err := lead.hub.Task(t.Context(), p.Tasks["2"], "lead")
	if err != nil || !slices.Equal(task.BlockedBy, []hub.TaskID{p.Tasks["s"]}) {
		t.Errorf("the second task waits for %v, %v", task.BlockedBy, err)
	}
	lead.refused("hub_plan", args{"title": "v", "tasks": `[{"title":"x"},{"title":"x"},{"title":"y","after":["x"]}]`})
	if said := lead.refused("hub_update_task", args{"task_id": p.Tasks["s"], "status": "working", "note": "half"}); !strings.Contains(said, "hub_done") {
		t.Errorf("a note to nobody is refused with %q", said)
	}
}
