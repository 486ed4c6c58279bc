package httpapi_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"hubcli/hub"
)

// walkRuns makes a run of a room's tasks, hands one task over and checks that
// the run ends.
func walkRuns(t *testing.T, c *client) {
	c.ok(201, "POST", "/v1/projects", `{"name":"Runs"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"runs","name":"Nightly"}`)
	id, channel := fmt.Sprint(room.row("room_id")), fmt.Sprint(room.row("channel"))
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/runs", `{"title":"x","room_id":"r_zzz"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/runs", `{"title":"  "}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/runs", `{"title":"x","task_ids":[0]}`)
	c.refused(hub.CodeTaskNotFound, "POST", "/v1/runs", `{"title":"x","task_ids":[999999]}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/runs", `{"title":"x","tasks":[{"title":"a"}]}`) // nobody opens it
	for _, tasks := range []string{`[{"title":" "}]`, `[{"title":"a\nb"}]`, `[{"title":"a","after":["b"]}]`, `[{"title":"a","after":["1"]}]`, `[{"title":"a","name":"n"},{"title":"b","name":"n"}]`} {
		c.refused(hub.CodeInvalid, "POST", "/v1/runs", `{"title":"x","created_by":"lead","tasks":`+tasks+`}`)
	}
	plan := c.ok(201, "POST", "/v1/runs", `{"title":"x","created_by":"lead","tasks":[{"title":"second","after":["2"]},{"title":"first"}]}`)
	if ids := taskIDs(plan); len(ids) != 2 || counts(plan).Open != 2 || fmt.Sprint(plan.row("planned")) != fmt.Sprint(ids) {
		t.Errorf("the plan is %s", plan.Result)
	}
	run := c.ok(201, "POST", "/v1/runs", `{"title":" Night 1 ","room_id":"`+id+`","created_by":"lead"}`)
	if run.row("title") != "Night 1" || run.row("status") != "running" || run.row("room_id") != id {
		t.Errorf("the run is %s", run.Result)
	}
	runID := fmt.Sprint(run.row("run_id"))
	task := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","channel":"`+channel+`","kind":"task","body":"Check","metadata":{"run_id":"`+runID+`"}}`)
	c.refused(hub.CodeRunNotFound, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"x","metadata":{"run_id":"run_zzz"}}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"x","metadata":{"run_id":7}}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","body":"of no run","metadata":{"run_id":7}}`)
	secret := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","to_agent":"dev","kind":"task_request","body":"Rotate the keys"}`)
	added := c.ok(200, "POST", "/v1/runs/"+runID+"/tasks", `{"agent_id":"lead","task_ids":[`+string(appendID(secret.id()))+`]}`)
	if ids := taskIDs(added); len(ids) != 2 {
		t.Errorf("lead sees the tasks %v", ids)
	}
	if got := c.ok(200, "GET", "/v1/runs/"+runID+"?agent_id=other", ""); len(taskIDs(got)) != 1 || counts(got).Total != 2 {
		t.Errorf("another sees %s", got.Result)
	}
	c.refused(hub.CodeTaskNotFound, "POST", "/v1/runs/"+runID+"/tasks", `{"agent_id":"other","task_ids":[`+string(appendID(secret.id()))+`]}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/runs/"+runID+"/tasks", `{}`)
	c.refused(hub.CodeRunNotFound, "POST", "/v1/runs/run_zzz/tasks", `{"task_ids":[1]}`)
	c.refused(hub.CodeRunNotFound, "GET", "/v1/runs/run_ZZZ", "")

	for query, want := range map[string]int{
		"/v1/runs?room_id=" + id + "&status=active": 1, "/v1/runs?status=complete": 0, "/v1/runs?limit=1": 1,
		"/v1/tasks?room_id=" + id + "&status=active": 1, "/v1/tasks?room_id=" + id: 1,
		"/v1/tasks?run_id=" + runID: 1, "/v1/tasks?agent_id=dev&run_id=" + runID: 2, "/v1/tasks?agent_id=dev&status=active&run_id=" + runID: 2,
	} {
		if n := c.ok(200, "GET", query, "").rows(); n != want {
			t.Errorf("%s: %d rows, want %d", query, n, want)
		}
	}
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/tasks?room_id=r_zzz", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/runs?room_id=r_zzz", "")
	c.refused(hub.CodeRunNotFound, "GET", "/v1/tasks?run_id=run_zzz", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/runs?status=open", "")

	walkHandoff(t, c, secret.id())
	c.ok(200, "POST", "/v1/tasks/"+string(appendID(task.id()))+"/complete", `{"agent_id":"dev"}`)
	if got := c.ok(200, "GET", "/v1/runs/"+runID, ""); got.row("status") != "complete" || got.row("ended_at") == nil {
		t.Errorf("the run is %s", got.Result)
	}
	var last []hub.Message
	if err := json.Unmarshal(c.ok(200, "GET", "/v1/messages?channel="+channel+"&tail=1&limit=1", "").Result, &last); err != nil || len(last) != 1 {
		t.Fatalf("%v, %v", last, err)
	}
	if m := last[0]; m.FromAgent != hub.AgentSystem || m.Kind != hub.KindNotice || m.RoomID == nil || string(*m.RoomID) != id {
		t.Errorf("the notice of the run's end is %+v", m)
	}
}

// walkHandoff hands a direct task from dev to next.
func walkHandoff(t *testing.T, c *client, id hub.MessageID) {
	task := "/v1/tasks/" + string(appendID(id))
	c.refused(hub.CodeTaskNotFound, "POST", task+"/handoff", `{"agent_id":"other","to_agent":"next"}`)
	c.refused(hub.CodeInvalid, "POST", task+"/handoff", `{"agent_id":"dev"}`)
	c.refused(hub.CodeInvalid, "POST", task+"/handoff", `{"to_agent":"dev","agent_id":"lead"}`)
	offered := c.ok(200, "POST", task+"/handoff", `{"agent_id":"dev","to_agent":"next","note":"the vault is open"}`)
	if offered.row("offered_to") != "next" || offered.row("assignee") != "dev" {
		t.Errorf("the offered task is %s", offered.Result)
	}
	var inbox []hub.Message
	if err := json.Unmarshal(c.ok(200, "GET", "/v1/inbox/next", "").Result, &inbox); err != nil || len(inbox) != 1 {
		t.Fatalf("%v, %v", inbox, err)
	}
	if m := inbox[0]; m.Kind != hub.KindHandoff || len(m.Attachments) != 1 || string(m.Attachments[0].Content) != `"Rotate the keys"` {
		t.Errorf("the offer is %+v", m)
	}
	c.refused(hub.CodeNotOffered, "POST", task+"/accept", `{"agent_id":"dev"}`)
	c.ok(200, "POST", task+"/decline", `{"agent_id":"dev","note":"I keep it"}`)
	c.refused(hub.CodeTaskNotFound, "POST", task+"/accept", `{"agent_id":"next"}`)
	c.ok(200, "POST", task+"/handoff", `{"agent_id":"dev","to_agent":"next"}`)
	c.refused(hub.CodeTaskNotFound, "POST", task+"/accept", `{}`)
	if got := c.ok(200, "POST", task+"/accept", `{"agent_id":"next"}`); got.row("assignee") != "next" || got.row("offered_to") != nil {
		t.Errorf("the accepted task is %s", got.Result)
	}
	// The first assignee still sees the task, and other agents do not.
	c.ok(200, "GET", task+"?agent_id=dev", "")
	c.refused(hub.CodeTaskNotFound, "GET", task+"?agent_id=other", "")
	c.refused(hub.CodeTaskTaken, "POST", task, `{"agent_id":"dev","assignee":"dev"}`)
	c.refused(hub.CodeTaskTaken, "POST", task+"/handoff", `{"agent_id":"dev","to_agent":"other"}`)
	c.ok(200, "POST", task, `{"agent_id":"lead","assignee":"third"}`)
	c.ok(200, "POST", task, `{"agent_id":"third","assignee":"next"}`)
	// The agent that took the task over answers a message that was not
	// addressed to it.
	c.refused(hub.CodeReplyNotFound, "POST", "/v1/messages", `{"from_agent":"other","kind":"task_result","reply_to":`+string(appendID(id))+`,"body":"x"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"next","to_agent":"lead","kind":"task_result","reply_to":`+string(appendID(id))+`,"body":"rotated"}`)
	c.refused(hub.CodeTaskClosed, "POST", task+"/handoff", `{"agent_id":"next","to_agent":"dev"}`)
}

func taskIDs(a answer) []any {
	ids, _ := a.row("task_ids").([]any)
	return ids
}

func counts(a answer) (c hub.RunCounts) {
	b, _ := json.Marshal(a.row("counts"))
	_ = json.Unmarshal(b, &c)
	return c
}

// walkStatus reads the status page of a room.
func walkStatus(t *testing.T, c *client) {
	c.ok(201, "POST", "/v1/projects", `{"name":"Status"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"status","name":"Watch this"}`)
	id, channel := fmt.Sprint(room.row("room_id")), fmt.Sprint(room.row("channel"))
	c.ok(201, "POST", "/v1/runs", `{"title":"batch","room_id":"`+id+`"}`)
	task := c.ok(201, "POST", "/v1/messages", `{"from_agent":"boss","channel":"`+channel+`","kind":"task","body":"Look"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"boss","channel":"`+channel+`","to_agent":"hand","kind":"task_request","body":"Secret"}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"hand","task_message_id":`+string(appendID(task.id()))+`}`)
	c.seen(id, "boss hand") // the agent that posted, and the agent with a claim on a task
	for viewer, want := range map[string][2]float64{"": {1, 0}, "?agent_id=hand": {2, 2}, "?agent_id=boss": {2, 0}, "?agent_id=other": {1, 1}} {
		got := c.ok(200, "GET", "/v1/rooms/"+id+"/status"+viewer, "")
		if got.row("open_task_count") != want[0] || got.row("unread") != want[1] || got.row("run_count") != 1.0 || got.row("claim_count") != 1.0 || got.row("seat_count") != 2.0 {
			t.Errorf("%q sees %s", viewer, got.Result)
		}
	}
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/watch-this/status", "")
	c.refused(hub.CodeInvalidAgentID, "GET", "/v1/rooms/"+id+"/status?agent_id=a%2Fb", "")
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/rooms/"+id+"/status?agent_id=operator", "")
}
