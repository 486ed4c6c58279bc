package actors

import (
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestAfterFailed: a task behind one that has failed is not ready, and no agent but its creator begins
// it, until the creator or the operator says that it goes on. A task that its plan lets continue is
// ready. That holds after a restart.
func TestAfterFailed(t *testing.T) {
	r := start(t, newMemStore())
	r.register("dev")
	room := r.newRoom("one")
	out, err := r.CreateRun(t.Context(), hub.RunInput{Title: "release", CreatedBy: "lead", RoomID: room.RoomID, Tasks: []hub.PlannedTask{
		{Name: "build", Title: "build"},
		{Title: "publish", After: []string{"build"}},
		{Title: "announce", After: []string{"build"}},
		{Title: "clean up", After: []string{"build"}, AfterFailed: hub.AfterFailedContinue},
	}})
	require.NoError(t, err)
	build, publish, announce, clean := out.Row.Planned[0], out.Row.Planned[1], out.Row.Planned[2], out.Row.Planned[3]
	set := func(id hub.TaskID, in hub.TaskUpdateInput) error {
		_, err := r.UpdateTask(t.Context(), id, in)
		return err
	}
	working := hub.TaskWorking
	begin := func(id hub.TaskID, agent hub.AgentID) error {
		return set(id, hub.TaskUpdateInput{AgentID: agent, Status: &working})
	}
	failed, none := hub.TaskFailed, []hub.TaskID{}
	require.NoError(t, set(build, hub.TaskUpdateInput{AgentID: "dev", Status: &failed}))
	for range 2 {
		for id, want := range map[hub.TaskID]bool{publish: false, announce: false, clean: true} {
			if row, err := r.Task(t.Context(), id, "dev"); err != nil || row.Ready != want {
				t.Errorf("task %d is ready: %v, want %v, %v", id, row.Ready, want, err)
			}
		}
		wantCode(t, begin(publish, "dev"), hub.CodeUndecided)
		wantCode(t, set(publish, hub.TaskUpdateInput{AgentID: "dev", Status: &working, Force: true}), hub.CodeUndecided)
		wantCode(t, set(publish, hub.TaskUpdateInput{AgentID: "dev", BlockedBy: &none}), hub.CodeUndecided)
		q := watchOf(t, room.RoomID, 0, "task-ready")
		if got := r.look(q); !got.Met || got.Conditions[0].Why != "task 4 is ready for you" {
			t.Errorf("the watch says %+v", got.Conditions)
		}
		r = start(t, r.crash())
	}
	same := []hub.TaskID{build}
	require.NoError(t, set(publish, hub.TaskUpdateInput{AgentID: "lead", BlockedBy: &same}))
	other := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "other"}).ID
	wantCode(t, set(other, hub.TaskUpdateInput{AgentID: "dev", BlockedBy: &same}), hub.CodeInvalid)
	if row, err := r.Task(t.Context(), publish, "dev"); err != nil || !row.Ready {
		t.Errorf("its creator said that it goes on: %+v, %v", row, err)
	}
	for id, agent := range map[hub.TaskID]hub.AgentID{publish: "dev", announce: "lead", clean: "dev"} {
		require.NoError(t, begin(id, agent))
	}
}
