package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) inRun(run hub.RunID, body string) hub.TaskID {
	r.t.Helper()
	return r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: body, Metadata: json.RawMessage(`{"run_id":"` + string(run) + `"}`)}).ID
}

func (r *rig) runNamed(title string, ids ...hub.TaskID) hub.Run {
	r.t.Helper()
	out, err := r.CreateRun(r.t.Context(), hub.RunInput{Title: title, CreatedBy: "lead", TaskIDs: ids})
	if err != nil {
		r.t.Fatalf("run %s: %v", title, err)
	}
	return out.Row
}

// A task joins while the last one of its run ends: whichever comes first, the run
// is the sum of its tasks, and every end of it is told once.
func TestRunReopenedWhileItsLastTaskEnds(t *testing.T) {
	store := newMemStore()
	store.delay = randomDelay(3, time.Millisecond)
	r := start(t, store)
	run := r.runNamed("race")
	last := r.inRun(run.RunID, "first")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		var wg sync.WaitGroup
		for range 1 + rng.IntN(3) {
			late := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "late"}).ID
			wg.Go(func() {
				if _, err := r.AddRunTasks(t.Context(), run.RunID, hub.RunTasksInput{AgentID: "lead", TaskIDs: []hub.TaskID{late}}); err != nil {
					t.Errorf("join: %v", err)
				}
				if _, err := r.CompleteTask(t.Context(), late, hub.CompleteInput{AgentID: "dev"}); err != nil {
					t.Errorf("complete: %v", err)
				}
			})
		}
		ending := last
		wg.Go(func() {
			if _, err := r.CompleteTask(t.Context(), ending, hub.CompleteInput{AgentID: "dev"}); err != nil {
				t.Errorf("complete: %v", err)
			}
		})
		wg.Wait()
		got, err := r.Run(t.Context(), run.RunID, "lead")
		if err != nil || got.Status != hub.RunComplete || got.Counts.Done != got.Counts.Total || len(got.TaskIDs) != got.Counts.Total {
			t.Fatalf("all its tasks are done, and the run is %+v, %v", got, err)
		}
		if n := len(r.view.Runs.List("")); n != 0 {
			t.Fatalf("%d runs are live", n)
		}
		last = r.inRun(run.RunID, "next")
	}
	wholeRuns(t, r)
	left := start(t, r.crash())
	wholeRuns(t, left)
	if got, err := left.Run(t.Context(), run.RunID, "lead"); err != nil || got.Status != hub.RunRunning || got.Counts.Open != 1 {
		t.Errorf("after a crash: %+v, %v", got, err)
	}
}

// What a run shows of its tasks is what the viewer may see; a repeated call gets
// the answer of the first although the run has grown.
func TestRunAnswers(t *testing.T) {
	r := start(t, newMemStore())
	direct := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, Body: "secret"}).ID
	run := r.runNamed("mixed", direct)
	ctx := withKey(t.Context(), "k", "body")
	public := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "public"}).ID
	in := hub.RunTasksInput{AgentID: "lead", TaskIDs: []hub.TaskID{public}}
	first, err := r.AddRunTasks(ctx, run.RunID, in)
	if err != nil || len(first.Row.TaskIDs) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	later := r.inRun(run.RunID, "later")
	again, err := r.AddRunTasks(ctx, run.RunID, in)
	if err != nil || !again.Replayed || fmt.Sprint(again.Row) != fmt.Sprint(first.Row) {
		t.Errorf("%+v, %v, want %+v", again, err, first)
	}
	for viewer, want := range map[hub.AgentID]string{"": fmt.Sprint([]hub.TaskID{public, later}), "dev": fmt.Sprint([]hub.TaskID{direct, public, later})} {
		if got, err := r.Run(t.Context(), run.RunID, viewer); err != nil || fmt.Sprint(got.TaskIDs) != want || got.Counts.Total != 3 {
			t.Errorf("%q sees %+v, %v", viewer, got, err)
		}
	}
}

// A checkpoint of tasks of version 1 restores; what is decided behind it is there
// after the next start.
func TestCheckpointOfTasksVersion1(t *testing.T) {
	data, err := os.ReadFile("core/testdata/snapshot_tasks_v1.json")
	require.NoError(t, err)
	store := newMemStore()
	r := start(t, store)
	for range 4 {
		r.say("lead", hub.DefaultChannel, "a message, so that the ids of the tasks are taken")
	}
	r.stop()
	left := store.restarted()
	for i, s := range left.disk.checkpoint.Sections {
		if s.Owner == core.TasksOwner() {
			left.disk.checkpoint.Sections[i].Version, left.disk.checkpoint.Sections[i].Data = 1, data
		}
	}
	r = start(t, left)
	run := r.runNamed("old", 1)
	if _, err := r.CompleteTask(t.Context(), 1, hub.CompleteInput{AgentID: "dev"}); err != nil {
		t.Fatal(err)
	}
	next := start(t, r.crash())
	if got, err := next.Run(t.Context(), run.RunID, ""); err != nil || got.Status != hub.RunComplete {
		t.Errorf("%+v, %v", got, err)
	}
	if s, ok := next.view.Tasks.Get(3); !ok || s.Task.Title != "direct" {
		t.Errorf("%+v, %v", s, ok)
	}
}

// A plan is one record. After a kill its tasks wait for each other as before, and
// its key answers what was made.
func TestPlanIsOneRecord(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	in := hub.RunInput{Title: "release", CreatedBy: "lead", Tasks: []hub.PlannedTask{{Title: "ship", After: []string{"build", "2"}}, {Title: "write"}, {Name: "build", Title: "build", Details: "with tests"}}}
	before := store.Head().Seq
	ctx := hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "k"}})
	out, err := r.CreateRun(ctx, in)
	require.NoError(t, err)
	if n := store.Head().Seq - before; n != 1 || len(out.Row.Planned) != 3 || !slices.Equal(out.Row.TaskIDs, out.Row.Planned) || out.Row.Counts.Open != 3 {
		t.Fatalf("%d records: %+v", n, out.Row)
	}
	late := r.inRun(out.Row.RunID, "late")
	r = start(t, r.crash())
	again, err := r.CreateRun(ctx, in)
	if err != nil || !again.Replayed || !slices.Equal(again.Row.Planned, out.Row.Planned) || slices.Contains(again.Row.Planned, late) {
		t.Errorf("the answer under the key is %+v, %v", again, err)
	}
	ship, err := r.Task(t.Context(), out.Row.Planned[0], "dev")
	if err != nil || ship.Ready || !slices.Equal(ship.BlockedBy, []hub.TaskID{out.Row.Planned[2], out.Row.Planned[1]}) {
		t.Errorf("the task that waits is %+v, %v", ship, err)
	}
	if _, err := r.CreateRun(t.Context(), hub.RunInput{Title: "x", CreatedBy: "lead", Tasks: []hub.PlannedTask{{Title: "a", After: []string{"1"}}}}); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Errorf("a circle: %v", err)
	}
}

// TestPlanGivesTasks: a task of a plan belongs to the agent that the plan names, the message that opens
// it mentions that agent, so that it asks it, and everybody in the room sees both.
func TestPlanGivesTasks(t *testing.T) {
	r := start(t, newMemStore())
	defer func() { r.stop() }()
	room := r.roomWithSeats("lead", "dev", "ops")
	out, err := r.CreateRun(t.Context(), hub.RunInput{Title: "release", CreatedBy: "lead", RoomID: room.RoomID, Tasks: []hub.PlannedTask{
		{Title: "build", Assignee: "dev", Details: "with tests"}, {Title: "ship", After: []string{"1"}, Assignee: "lead"}, {Title: "tell"},
	}})
	require.NoError(t, err)
	for i, want := range []hub.AgentID{"dev", "lead", ""} {
		task, err := r.Task(t.Context(), out.Row.Planned[i], "ops")
		if got := hub.Value(task.Assignee); err != nil || got != want {
			t.Errorf("task %d is %q's, %v, want %q", i, got, err, want)
		}
	}
	if got := r.directedTo("dev", room.RoomID); len(got) != 1 || got[0] != out.Row.Planned[0] {
		t.Errorf("of dev %v ask, want the message of its task", got)
	}
	for _, agent := range []hub.AgentID{"lead", "ops"} {
		if got := r.directedTo(agent, room.RoomID); len(got) != 0 {
			t.Errorf("of %s %v ask", agent, got)
		}
	}
	wantCode(t, r.assign(out.Row.Planned[0], "ops", "ops"), hub.CodeTaskTaken)
	r = start(t, r.crash())
	if task, err := r.Task(t.Context(), out.Row.Planned[0], "ops"); err != nil || hub.Value(task.Assignee) != "dev" {
		t.Errorf("after a restart the task is %+v, %v", task, err)
	}
}
