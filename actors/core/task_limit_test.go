package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// The tasks that have not ended are bounded, since all are kept; one that ends
// makes room.
func TestLiveTasksAreLimited(t *testing.T) {
	before, state, at := heap(), core.NewTasks(), core.Position{FirstMessage: 1}
	open := func(kind hub.Kind) error {
		d, err := state.Post(core.PostTaskCommand{By: core.StandingProved, Message: core.MessageDraft{
			From: hub.AgentID(fmt.Sprint("lead", at.FirstMessage%200)), Channel: hub.DefaultChannel, Kind: kind, Body: fmt.Sprint("Write the part number ", at.FirstMessage),
		}}, at.Now, nil)
		if err != nil {
			return err
		}
		for _, f := range d.Facts {
			state.Apply(f, at, nil)
		}
		at.Seq++
		at.FirstMessage++
		return nil
	}
	for range hub.MaxLiveTasks {
		require.NoError(t, open(hub.KindTask))
	}
	t.Logf("%d tasks take %d bytes each", state.Len(), (heap()-before)/hub.MaxLiveTasks)
	if err := open(hub.KindTask); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("a task more: %v", err)
	}
	if err := open(hub.KindChat); err != nil {
		t.Errorf("a message that opens none: %v", err)
	}
	d, err := state.Complete(1, core.CompleteCommand{By: by("dev")}, at.Now)
	require.NoError(t, err)
	state.Apply(d.Facts[0], at, nil)
	if err := open(hub.KindTaskRequest); err != nil {
		t.Errorf("a task more after one has ended: %v", err)
	}
}

// The runs that have not ended are bounded too: neither a new one nor one that
// would be reopened goes beyond, and one that ends makes room.
func TestLiveRunsAreLimited(t *testing.T) {
	r := newTaskRig(t)
	first, err := r.startRun("lead", hub.RunInput{Title: "first"})
	require.NoError(t, err)
	if _, err := r.complete(r.openInRun(first.RunID), "dev", ""); err != nil {
		t.Fatal(err)
	}
	at := core.Position{Seq: 1000, Now: r.now}
	for range hub.MaxLiveRuns {
		at.Seq++
		for _, state := range []*core.Tasks{r.live, r.replica} {
			state.Apply(&core.RunStarted{Title: "x"}, at, nil)
		}
	}
	limit := &hub.Error{Code: hub.CodeLimitReached}
	if _, err := r.startRun("lead", hub.RunInput{Title: "x"}); !errors.Is(err, limit) {
		t.Errorf("a run more: %v", err)
	}
	if _, err := r.postInRun(core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x"}, first.RunID); !errors.Is(err, limit) {
		t.Errorf("a run more that is reopened by a post: %v", err)
	}
	task := r.open(core.MessageDraft{Body: "x"})
	if _, err := r.joinRun("lead", first.RunID, task); !errors.Is(err, limit) {
		t.Errorf("a run more that is reopened by joining: %v", err)
	}
	live := r.live.Runs()[0].Run.RunID
	if _, err := r.complete(r.openInRun(live), "dev", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.joinRun("lead", first.RunID, task); err != nil {
		t.Errorf("a run that is reopened after one has ended: %v", err)
	}
}

func (r *taskRig) openInRun(run hub.RunID) hub.TaskID {
	r.t.Helper()
	a, err := r.postInRun(core.MessageDraft{From: "lead", Kind: hub.KindTask, Body: "x"}, run)
	if err != nil {
		r.t.Fatalf("a task of run %s: %v", run, err)
	}
	return a.Message
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
