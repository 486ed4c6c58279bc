package actors

import (
	"fmt"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// leastOf returns the time of the fastest of 20 calls of f.
func leastOf(f func()) time.Duration {
	least := time.Hour
	for range 20 {
		begun := time.Now()
		f()
		least = min(least, time.Since(begun))
	}
	return least
}

// TestOthersCostNothing: the cost of a lookup for one agent or room depends on
// what it has, not on what all others have.
func TestOthersCostNothing(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	r.claim("ann", "mine", 60)
	mine := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "do it"})
	attention := func() {
		got, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
		if err != nil || len(got.Claims) != 1 || len(got.Tasks) != 1 || got.Tasks[0].TaskID != mine.ID {
			t.Errorf("%+v, %v", got, err)
		}
	}
	runs := func() {
		if got := r.view.Runs.List("r_1"); len(got) != 0 {
			t.Errorf("runs %+v", got)
		}
	}
	parts := map[string]func(){"attention": attention, "the runs of a room": runs}
	alone := map[string]time.Duration{}
	for name, call := range parts {
		alone[name] = leastOf(call)
	}
	room := hub.RoomID("r_2")
	for i := range 20_000 {
		who := hub.AgentID(fmt.Sprint("other", i%100))
		r.view.Leases.Restore(core.Lease{Space: core.SpaceClaim, Key: fmt.Sprint("k", i), Agent: who})
		r.view.Tasks.Put(core.StoredTask{Task: hub.Task{TaskID: hub.TaskID(1000 + i), Assignee: &who, CreatedBy: "boss", RoomID: &room, Status: hub.TaskOpen}})
		r.view.Runs.Put(core.StoredRun{Run: hub.Run{RunID: hub.RunID(core.IDAt(core.PrefixRun, hub.Seq(1000+i))), RoomID: &room, Status: hub.RunRunning}})
	}
	for name, call := range parts {
		took := leastOf(call)
		t.Logf("%s: %s alone, %s among 20,000 of others", name, alone[name], took)
		if took > 10*alone[name]+200*time.Microsecond {
			t.Errorf("%s costs %s among 20,000 of others, and %s alone", name, took, alone[name])
		}
	}
}
