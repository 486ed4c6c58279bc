package actors

import (
	"fmt"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// leastOf returns how long the fastest of some calls of f takes.
func leastOf(f func()) time.Duration {
	least := time.Hour
	for range 20 {
		begun := time.Now()
		f()
		least = min(least, time.Since(begun))
	}
	return least
}

// What is looked up for one agent or one room costs what they have, not what all
// others have.
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
		if got := r.views.runs.list("r_1"); len(got) != 0 {
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
		r.views.leases.mu.Lock()
		r.views.leases.restore(core.Lease{Space: core.SpaceClaim, Key: fmt.Sprint("k", i), Agent: who})
		r.views.leases.mu.Unlock()
		r.views.tasks.put(core.StoredTask{Task: hub.Task{TaskID: hub.TaskID(1000 + i), Assignee: &who, CreatedBy: "boss", RoomID: &room, Status: hub.TaskOpen}})
		r.views.runs.put(core.StoredRun{Run: hub.Run{RunID: hub.RunID(core.IDAt(core.PrefixRun, hub.Seq(1000+i))), RoomID: &room, Status: hub.RunRunning}})
	}
	for name, call := range parts {
		took := leastOf(call)
		t.Logf("%s: %s alone, %s among 20,000 of others", name, alone[name], took)
		if took > 10*alone[name]+200*time.Microsecond {
			t.Errorf("%s costs %s among 20,000 of others, and %s alone", name, took, alone[name])
		}
	}
}

// What a task and a run are found by follows each change of them and ends with
// them.
func TestViewsFindWhatTheyShow(t *testing.T) {
	v, runs := newTaskView(), newRunView()
	ann, ben, cleo, room := hub.AgentID("ann"), hub.AgentID("ben"), hub.AgentID("cleo"), hub.RoomID("r_1")
	task := func(assignee, offered *hub.AgentID, status hub.TaskStatus) {
		v.put(core.StoredTask{Task: hub.Task{TaskID: 7, CreatedBy: ann, Assignee: assignee, OfferedTo: offered, RoomID: &room, Status: status}})
	}
	check := func(when string, want map[hub.AgentID]bool) {
		t.Helper()
		for _, agent := range []hub.AgentID{ann, ben, cleo} {
			if got := v.concerning(agent); (len(got) == 1) != want[agent] || v.concerns(agent) != want[agent] {
				t.Errorf("%s: of %s are %+v", when, agent, got)
			}
		}
	}
	task(&ann, nil, hub.TaskOpen)
	check("ann's own", map[hub.AgentID]bool{ann: true})
	task(&ben, nil, hub.TaskWorking)
	check("assigned", map[hub.AgentID]bool{ann: true, ben: true})
	task(&ben, &cleo, hub.TaskWorking)
	check("offered", map[hub.AgentID]bool{ann: true, ben: true, cleo: true})
	task(&cleo, nil, hub.TaskWorking)
	check("accepted", map[hub.AgentID]bool{ann: true, cleo: true})
	task(&cleo, nil, hub.TaskDone)
	check("ended", nil)
	if len(v.rooms)+len(v.agents)+len(v.parties) > 0 {
		t.Errorf("the indexes of an ended task hold %v, %v, %v", v.rooms, v.agents, v.parties)
	}
	for _, status := range []hub.RunStatus{hub.RunRunning, hub.RunComplete} {
		runs.put(core.StoredRun{Run: hub.Run{RunID: "run_1", RoomID: &room, Status: status}})
		if got := runs.list(room); (len(got) == 1) != (status == hub.RunRunning) || len(runs.list("r_2")) != 0 {
			t.Errorf("a run that is %s: %+v", status, got)
		}
	}
	if len(runs.rooms) > 0 {
		t.Errorf("the index of an ended run holds %v", runs.rooms)
	}
}
