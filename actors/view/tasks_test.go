package view

import (
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// What a task and a run are found by follows each change of them and ends with
// them.
func TestViewsFindWhatTheyShow(t *testing.T) {
	v, runs := newTasks(), newRuns()
	ann, ben, cleo, room := hub.AgentID("ann"), hub.AgentID("ben"), hub.AgentID("cleo"), hub.RoomID("r_1")
	task := func(assignee, offered *hub.AgentID, status hub.TaskStatus) {
		v.Put(core.StoredTask{Task: hub.Task{TaskID: 7, CreatedBy: ann, Assignee: assignee, OfferedTo: offered, RoomID: &room, Status: status}})
	}
	check := func(when string, want map[hub.AgentID]bool) {
		t.Helper()
		for _, agent := range []hub.AgentID{ann, ben, cleo} {
			if got := v.Concerning(agent); (len(got) == 1) != want[agent] || v.concerns(agent) != want[agent] {
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
		runs.Put(core.StoredRun{Run: hub.Run{RunID: "run_1", RoomID: &room, Status: status}})
		if got := runs.List(room); (len(got) == 1) != (status == hub.RunRunning) || len(runs.List("r_2")) != 0 {
			t.Errorf("a run that is %s: %+v", status, got)
		}
	}
	if len(runs.rooms) > 0 {
		t.Errorf("the index of an ended run holds %v", runs.rooms)
	}
}
