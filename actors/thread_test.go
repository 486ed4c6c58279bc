package actors

import (
	"encoding/json"
	"slices"
	"testing"

	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestThreadOfManyTasks: a thread counts all its open tasks, also those that its answer does
// not show.
func TestThreadOfManyTasks(t *testing.T) {
	r := start(t, newMemStore())
	defer r.stop()
	var last hub.TaskID
	for range hub.MaxPageRows + 5 {
		last = r.task(hub.PostInput{FromAgent: "ann", ThreadID: "t", Body: "x"})
	}
	r.endTask(last, hub.TaskDone)
	got, err := r.Thread(t.Context(), "t", "bob")
	if s := got.Thread; err != nil || s.OpenTaskCount != hub.MaxPageRows+4 || s.TotalTaskCount != hub.MaxPageRows+5 || s.Status != hub.ThreadOpen {
		t.Errorf("the summary is %+v, %v", s, err)
	}
	if n := len(got.Tasks); n != hub.MaxPageRows || got.More["tasks"] != "GET /v1/tasks?agent_id=bob&thread_id=t" {
		t.Errorf("%d tasks are shown, and of more %v", n, got.More)
	}
}

// TestOpenTasksOfALongThread: however many tasks of a thread have ended, those that are open are
// shown and counted.
func TestOpenTasksOfALongThread(t *testing.T) {
	r := start(t, newMemStore())
	defer r.stop()
	var open []hub.TaskID
	for i := range hub.MaxPageRows + 20 {
		id := r.task(hub.PostInput{FromAgent: "ann", ThreadID: "t", Body: "x"})
		if i == 7 || i > hub.MaxPageRows+10 {
			open = append(open, id)
		} else {
			r.endTask(id, hub.TaskDone)
		}
	}
	got, err := r.Thread(t.Context(), "t", "bob")
	require.NoError(t, err)
	var shown []hub.TaskID
	for _, row := range got.Tasks {
		if !row.Status.Terminal() {
			shown = append(shown, row.TaskID)
		}
	}
	if !slices.Equal(shown, open) || got.Thread.OpenTaskCount != int64(len(open)) || len(got.Tasks) != hub.MaxPageRows || got.More["tasks"] == "" {
		t.Errorf("open are %v and shown %v; %d tasks in all, and of more %v", open, shown, len(got.Tasks), got.More)
	}
}

// TestThreadOfLongTasks: the longest tasks are left out of a thread where all are too many
// bytes.
func TestThreadOfLongTasks(t *testing.T) {
	r := start(t, newMemStore())
	defer r.stop()
	const tasks = 500
	for range tasks {
		r.task(hub.PostInput{FromAgent: "ann", ThreadID: "t", Body: long(hub.MaxTitleChars)})
	}
	short := r.task(hub.PostInput{FromAgent: "ann", ThreadID: "t", Body: "x"})
	got, err := r.Thread(t.Context(), "t", "")
	n := len(must(json.Marshal(got.Tasks)))
	if err != nil || n > view.MaxPageBytes/2 || len(got.Tasks) < tasks/2 || got.More["tasks"] != "GET /v1/tasks?thread_id=t" {
		t.Errorf("%d tasks of %d bytes are shown, and of more %v, %v", len(got.Tasks), n, got.More, err)
	}
	if last := got.Tasks[len(got.Tasks)-1]; last.TaskID != short || got.Thread.OpenTaskCount != tasks+1 {
		t.Errorf("the last task that is shown is %d of %d, and %d are open", last.TaskID, short, got.Thread.OpenTaskCount)
	}
}
