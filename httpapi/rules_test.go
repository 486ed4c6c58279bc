package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/actors/gate"
	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// ruled is a call that a rule of every write refuses. ROOM, TASK, RUN, INVITE, SPAWN and FOLDER stand
// for what the call is about.
type ruled struct{ op, path, body string }

// inRoom are calls that make, bind or change something, each by the agent dev and in the room.
var inRoom = []ruled{
	{"acceptInvite", "/v1/invites/CODE/accept", `{"agent_id":"dev"}`},
	{"acceptTask", "/v1/tasks/OFFERED/accept", `{"agent_id":"dev"}`},
	{"addArtifact", "/v1/artifacts", `{"room_id":"ROOM","by":"dev","title":"t","kind":"doc","body":"x"}`},
	{"addDecision", "/v1/decisions", `{"room_id":"ROOM","by":"dev","title":"t"}`},
	{"addRunTasks", "/v1/runs/RUN/tasks", `{"agent_id":"dev","task_ids":[TASK]}`},
	{"ask", "/v1/asks", `{"agent_id":"dev","room_id":"ROOM","question":"?"}`},
	{"bindRoom", "/v1/rooms/ROOM/binding", `{"path":"OTHER","agent_id":"dev"}`},
	{"browse", "/v1/rooms/ROOM/browser", `{"agent_id":"dev","action":"open","url":"http://x.example/"}`},
	{"claim", "/v1/claims", `{"owner_agent_id":"dev","claim_key":"new"}`},
	{"completeTask", "/v1/tasks/TASK/complete", `{"agent_id":"dev"}`},
	{"createChannel", "/v1/channels", `{"name":"new","created_by":"dev"}`},
	{"createInvite", "/v1/invites", `{"project":"rules","room":"ROOM","by":"dev"}`},
	{"createProject", "/v1/projects", `{"name":"New","created_by":"dev"}`},
	{"createRoom", "/v1/rooms", `{"project":"rules","name":"New","created_by":"dev"}`},
	{"createRun", "/v1/runs", `{"room_id":"ROOM","created_by":"dev","title":"new"}`},
	{"handoffTask", "/v1/tasks/TASK/handoff", `{"agent_id":"dev","to_agent":"lead"}`},
	{"lock", "/v1/locks", `{"agent_id":"dev","file_path":"/new"}`},
	{"postMessage", "/v1/messages", `{"from_agent":"dev","channel":"room-ROOM","body":"x"}`},
	{"postMessage", "/v1/messages", `{"from_agent":"dev","channel":"room-ROOM","kind":"task","body":"x"}`},
	{"remember", "/v1/memory", `{"room_id":"ROOM","by":"dev","key":"k","text":"x"}`},
	{"setRoomLocks", "/v1/rooms/ROOM/locks", `{"agent_id":"dev","locks":"refuse"}`},
	{"sit", "/v1/rooms/ROOM/seats", `{"agent_id":"dev"}`},
	{"spawn", "/v1/spawn", `{"room_id":"ROOM","harness":"codex","by":"dev","prompt":"x"}`},
	{"unbindRoom", "/v1/rooms/ROOM/binding", `{"path":"FOLDER","agent_id":"dev"}`},
	{"updateTask", "/v1/tasks/TASK", `{"agent_id":"dev","status":"working"}`},
}

// startRuled makes a room with what the calls are about.
func startRuled(t *testing.T) (c, operator *client, in *strings.Replacer, room string) {
	t.Helper()
	h := testhub.Start(t, spawning, testhub.With(withPage))
	c = newClient(t, h)
	operator = c.with(api.HeaderOperator, h.Store.OperatorToken())
	folder, other := t.TempDir(), t.TempDir()
	c.ok(201, "POST", "/v1/projects", `{"name":"Rules"}`)
	room = c.ok(201, "POST", "/v1/rooms", `{"project":"rules","name":"Hall"}`).row("room_id").(string)
	c.ok(201, "PUT", "/v1/rooms/"+room+"/binding", `{"path":"`+folder+`"}`)
	allow(operator, room, 0, map[hub.Harness]string{hub.HarnessCodex: "exec sleep 600"})
	task := func() string {
		a := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","channel":"room-`+room+`","kind":"task","body":"work"}`)
		return string(appendID(a.id()))
	}
	offered := task()
	c.ok(200, "POST", "/v1/tasks/"+offered, `{"agent_id":"mate","status":"working"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","channel":"room-`+room+`","body":"here"}`)
	c.ok(200, "POST", "/v1/tasks/"+offered+"/handoff", `{"agent_id":"mate","to_agent":"dev"}`)
	run := c.ok(201, "POST", "/v1/runs", `{"room_id":"`+room+`","title":"run"}`).row("run_id").(string)
	code := c.ok(201, "POST", "/v1/invites", `{"project":"rules","room":"`+room+`"}`).row("code").(string)
	return c, operator, strings.NewReplacer("ROOM", room, "TASK", task(), "OFFERED", offered, "RUN", run, "CODE", code, "FOLDER", folder, "OTHER", other), room
}

// refuses makes all calls to which a rule applies, and wants them refused with the code. It returns
// the operations that it has called.
func refuses(t *testing.T, c *client, in *strings.Replacer, code hub.Code, applies func(*gate.Row) bool) {
	t.Helper()
	called := map[string]bool{}
	for _, call := range inRoom {
		for i := range gate.Rows() {
			if row := &gate.Rows()[i]; row.Op == call.op && applies(row) {
				called[call.op] = true
				op := api.OperationByID(call.op)
				if a := c.call(op.Method, in.Replace(call.path), in.Replace(call.body)); a.Code != code {
					t.Errorf("%s %s: status %d %q %s, want %s", call.op, in.Replace(call.body), a.status, a.Code, a.Error, code)
				}
			}
		}
	}
	for i := range gate.Rows() {
		if row := &gate.Rows()[i]; applies(row) && !called[row.Op] {
			t.Errorf("the rule applies to %s, and no call tries it", row.Op)
		}
	}
}

// TestPausedAgentMakesNothing: each write to which a pause applies is refused, and what a paused agent
// may keep doing goes on.
func TestPausedAgentMakesNothing(t *testing.T) {
	c, operator, in, _ := startRuled(t)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"dev","claim_key":"held"}`)
	operator.ok(200, "POST", "/v1/pauses", `{"agent_id":"dev","words":"stop"}`)
	refuses(t, c, in, hub.CodePaused, func(r *gate.Row) bool { return r.Paused.Applies })
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"dev"}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"dev","claim_key":"held"}`)
	c.ok(200, "POST", "/v1/claims/refresh", `{"owner_agent_id":"dev","claim_key":"held"}`)
	c.ok(200, "POST", "/v1/claims/release", `{"agent_id":"dev","claim_key":"held"}`)
	c.ok(200, "POST", in.Replace("/v1/tasks/OFFERED/decline"), `{"agent_id":"dev"}`)
	c.ok(200, "POST", in.Replace("/v1/rooms/ROOM/seats"), `{"agent_id":"dev"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","to_agent":"operator","body":"may I go on?"}`)
	c.ok(200, "GET", in.Replace("/v1/rooms/ROOM/status"), "")
}

// TestNothingNewInAnArchivedRoom: each write to which an archive applies is refused, also to the
// operator, and what is there may come to its end.
func TestNothingNewInAnArchivedRoom(t *testing.T) {
	c, operator, in, room := startRuled(t)
	c.ok(201, "POST", "/v1/memory", in.Replace(`{"room_id":"ROOM","by":"dev","key":"old","text":"x"}`))
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	refuses(t, c, in, hub.CodeArchived, func(r *gate.Row) bool { return r.Archived.Applies })
	operator.refused(hub.CodeArchived, "POST", "/v1/decisions", in.Replace(`{"room_id":"ROOM","by":"operator","title":"t"}`))
	c.ok(201, "POST", "/v1/memory", in.Replace(`{"room_id":"ROOM","by":"dev","key":"old"}`))
	c.ok(200, "POST", in.Replace("/v1/tasks/OFFERED/decline"), `{"agent_id":"dev"}`)
	c.ok(200, "POST", in.Replace("/v1/tasks/TASK"), `{"agent_id":"dev","status":"done"}`)
	c.ok(200, "DELETE", in.Replace("/v1/rooms/ROOM/binding"), in.Replace(`{"path":"FOLDER"}`))
	c.ok(200, "GET", in.Replace("/v1/rooms/ROOM/status"), "")
}
