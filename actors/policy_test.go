package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// What a public task waits for is shown to each as far as it may see it, by every
// call that shows tasks; ready stays as it is.
func TestBlockedByHidesTasksOfOthers(t *testing.T) {
	r := start(t, newMemStore())
	room := r.roomWithSeats("lead", "dev")
	public := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, ThreadID: "th", Kind: hub.KindTask, Body: "publish"}).ID
	other := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Kind: hub.KindTask, Body: "print"}).ID
	secret := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, Body: "sign"}).ID
	for _, end := range []bool{false, true} {
		ids := []hub.TaskID{other, secret}
		if !end {
			if _, err := r.UpdateTask(t.Context(), public, hub.TaskUpdateInput{AgentID: "lead", BlockedBy: &ids}); err != nil {
				t.Fatal(err)
			}
		} else if _, err := r.CompleteTask(t.Context(), secret, hub.CompleteInput{AgentID: "dev"}); err != nil {
			t.Fatal(err)
		}
		for viewer, want := range map[hub.AgentID][]hub.TaskID{"lead": ids, "dev": ids, "stranger": {other}, "": {other}} {
			for name, row := range r.rowsOfTask(public, room.RoomID, viewer) {
				if !slices.Equal(row.BlockedBy, want) || row.Ready {
					t.Errorf("%s for %q: %+v", name, viewer, row)
				}
			}
		}
	}
	working := hub.TaskWorking
	_, err := r.UpdateTask(t.Context(), public, hub.TaskUpdateInput{AgentID: "stranger", Status: &working})
	wantCode(t, err, hub.CodeBlocked)
	out, err := r.UpdateTask(t.Context(), public, hub.TaskUpdateInput{AgentID: "stranger", Status: &working, Force: true})
	if err != nil || !slices.Equal(out.Row.BlockedBy, []hub.TaskID{other}) || !slices.Equal(out.Row.OpenBlockers, []hub.TaskID{other}) {
		t.Errorf("the answer of an update: %+v, %v", out.Row, err)
	}
}

// TestOneTaskNamesItsNeighbors: an answer about one task names what it waits for
// now and what waits for it, as far as the caller may see them. Lists do not.
func TestOneTaskNamesItsNeighbors(t *testing.T) {
	r := start(t, newMemStore())
	first := r.post(hub.PostInput{FromAgent: "lead", Channel: "general", Kind: hub.KindTask, Body: "first"}).ID
	second := r.post(hub.PostInput{FromAgent: "lead", Channel: "general", Kind: hub.KindTask, Body: "second"}).ID
	third := r.post(hub.PostInput{FromAgent: "lead", Channel: "general", Kind: hub.KindTask, Body: "third", BlockedBy: []hub.TaskID{first, second}}).ID
	secret := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, Body: "secret", BlockedBy: []hub.TaskID{second}}).ID
	look := func(id hub.TaskID, viewer hub.AgentID, blockers, blocks []hub.TaskID) {
		t.Helper()
		row, err := r.Task(t.Context(), id, viewer)
		if err != nil || !slices.Equal(row.OpenBlockers, blockers) || !slices.Equal(row.Blocks, blocks) {
			t.Errorf("%+v, %v", row, err)
		}
	}
	look(third, "dev", []hub.TaskID{first, second}, nil)
	look(second, "dev", nil, []hub.TaskID{third, secret})
	look(second, "stranger", nil, []hub.TaskID{third})
	if _, err := r.CompleteTask(t.Context(), first, hub.CompleteInput{AgentID: "dev"}); err != nil {
		t.Fatal(err)
	}
	look(third, "dev", []hub.TaskID{second}, nil)
	look(first, "dev", nil, nil)
	next := start(t, r.crash())
	if row, err := next.Task(t.Context(), second, "lead"); err != nil || !slices.Equal(row.Blocks, []hub.TaskID{third, secret}) {
		t.Errorf("after a restart: %+v, %v", row, err)
	}
	rows, _, err := next.Tasks(t.Context(), hub.TasksQuery{Active: true, Viewer: "lead", Limit: 10})
	if err != nil || len(rows) != 3 || rows[0].OpenBlockers != nil || rows[2].Blocks != nil {
		t.Errorf("the list: %+v, %v", rows, err)
	}
}

// rowsOfTask returns the row of a task by call.
func (r *rig) rowsOfTask(id hub.TaskID, room hub.RoomID, viewer hub.AgentID) map[string]hub.Task {
	r.t.Helper()
	rows := map[string]hub.Task{}
	add := func(call string, tasks []hub.Task, err error) {
		i := slices.IndexFunc(tasks, func(t hub.Task) bool { return t.TaskID == id })
		if err != nil || i < 0 {
			r.t.Fatalf("%s for %q: %+v, %v", call, viewer, tasks, err)
		}
		rows[call] = tasks[i]
	}
	one, err := r.Task(r.t.Context(), id, viewer)
	add("the task", []hub.Task{one}, err)
	for _, q := range []hub.TasksQuery{{}, {Active: true}, {RoomID: room}, {RoomID: room, Active: true}, {ThreadID: "th"}} {
		q.Viewer, q.Limit = viewer, 100
		tasks, _, err := r.Tasks(r.t.Context(), q)
		add(fmt.Sprintf("tasks %+v", q), tasks, err)
	}
	th, err := r.Thread(r.t.Context(), "th", viewer)
	add("the thread", th.Tasks, err)
	add("the room", r.status(room, viewer).OpenTasks, nil)
	return rows
}

// A task of others cannot be claimed, and the page of a room does not name it.
func TestClaimsOnTasksOfOthers(t *testing.T) {
	r := start(t, newMemStore())
	room := r.roomWithSeats("lead", "dev")
	secret := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Channel: room.Channel, Kind: hub.KindTaskRequest, Body: "sign"}).ID
	elsewhere := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, Body: "sign"}).ID
	public := r.say("lead", hub.DefaultChannel, "no task").ID
	claim := func(agent hub.AgentID, key hub.ClaimKey, id hub.MessageID) error {
		_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TaskMessageID: id, TTLSec: 600})
		return err
	}
	for name, err := range map[string]error{
		"another's": claim("stranger", "", secret), "another's under a key": claim("stranger", "mine", secret),
		"another's by its key": claim("stranger", core.TaskKey(secret), 0), "one to come": claim("lead", "", 1000),
		"another's by its key, with a message": claim("stranger", core.TaskKey(secret), public),
	} {
		if codeOf(err) != hub.CodeTaskNotFound {
			t.Errorf("a claim on a task, %s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"asked": claim("dev", "", secret), "gave it": claim("lead", "two", secret), "no task": claim("stranger", "", public),
		"a number of its own": claim("stranger", "task-1000", 0), "elsewhere": claim("dev", "", elsewhere),
	} {
		if err != nil {
			t.Errorf("a claim, %s: %v", name, err)
		}
	}
	if err := claim("stranger", "task-0", 0); err != nil {
		t.Error(err)
	}
	for viewer, named := range map[hub.AgentID]bool{"dev": true, "stranger": false, "": false} {
		s := r.status(room.RoomID, viewer)
		if want := map[bool]int{true: 3}[named]; s.ClaimCount != want || len(s.Claims) != want {
			t.Errorf("%q sees %d claims, want %d: %+v", viewer, s.ClaimCount, want, s.Claims)
		}
		for _, row := range s.Claims {
			if row.TaskMessageID == nil || strings.HasPrefix(row.Key, "task-") == (row.Key == "two") {
				t.Errorf("%q sees %+v", viewer, row)
			}
		}
	}
}
