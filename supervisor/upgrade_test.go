package supervisor_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestStoreWithTasksOfVersion1: a hub opens a store of an earlier hub, whose
// tasks had no runs, no offers and no first assignee. The store has a
// checkpoint with tasks of version 1 and later records; that hub was killed.
// The fixture is never rewritten.
func TestStoreWithTasksOfVersion1(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	z, err := zip.OpenReader("testdata/store-tasks-1.zip")
	require.NoError(t, err)
	defer z.Close()
	require.NoError(t, os.CopyFS(dir, z))
	h := testhub.Start(t, testhub.Dir(dir))
	want := []string{"7 waits [6] false", "6 late [] true", "5 child [] true", "4 secret [] true", "3 task 3 [] true", "2 task 2 [4 3] false", "1 task 1 [] true"}
	operator := hub.WithCaller(t.Context(), &hub.Caller{Operator: true})
	tasks, _, err := h.Hub.Tasks(operator, hub.TasksQuery{Active: true, Limit: 100})
	got := make([]string, 0, len(tasks))
	for _, task := range tasks {
		got = append(got, fmt.Sprint(task.TaskID, " ", task.Title, " ", task.BlockedBy, " ", task.Ready))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("tasks %q, %v, want %q", got, err, want)
	}
	for id, shown := range map[hub.TaskID]string{2: "[3]", 7: "[]"} { // the others are of direct messages
		if task, err := h.Hub.Task(t.Context(), id, "stranger"); err != nil || fmt.Sprint(task.BlockedBy) != shown {
			t.Errorf("a stranger sees %+v, %v", task, err)
		}
	}
	claims, _, errc := h.Hub.Claims(t.Context(), hub.LeasesQuery{Limit: 100})
	locks, _, errl := h.Hub.Locks(t.Context(), hub.LeasesQuery{Limit: 100})
	thread, errt := h.Hub.Thread(t.Context(), "th", "")
	if errc != nil || errl != nil || errt != nil || len(claims) != 1 || len(locks) != 1 || thread.Thread.TotalTaskCount != 4 {
		t.Errorf("claims %+v, %v, locks %+v, %v, thread %+v, %v", claims, errc, locks, errl, thread.Thread, errt)
	}
	handOn(t, h, 4, "dev", "next")
	handOn(t, h, 6, "ann", "next")
	if _, err := h.Hub.CompleteTask(t.Context(), 5, hub.CompleteInput{AgentID: "dev"}); err != nil {
		t.Error(err)
	}
	require.NoError(t, h.Stop())
	h = testhub.Start(t, testhub.Dir(dir))
	for id, asked := range map[hub.TaskID]hub.AgentID{4: "dev", 6: "ann"} {
		if task, err := h.Hub.Task(t.Context(), id, asked); err != nil || *task.Assignee != "next" {
			t.Errorf("%s sees %+v, %v", asked, task, err)
		}
	}
	if task, err := h.Hub.Task(t.Context(), 1, ""); err != nil || task.Status != hub.TaskDone {
		t.Errorf("the parent of what was completed is %+v, %v", task, err)
	}
}

func handOn(t *testing.T, h *testhub.Hub, id hub.TaskID, from, to hub.AgentID) {
	t.Helper()
	if _, err := h.Hub.HandoffTask(t.Context(), id, hub.HandoffInput{AgentID: from, ToAgent: to}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Hub.AcceptTask(t.Context(), id, hub.OfferInput{AgentID: to}); err != nil {
		t.Fatal(err)
	}
}
