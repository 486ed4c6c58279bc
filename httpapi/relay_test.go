package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/contract"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// These tests make calls as a forwarder makes them for agent "mine".

// foreignCalls are calls that act as agent "other" and need more input than the
// agent's name: a query or a body. S and K are the session and the resume key
// of other.
var foreignCalls = map[string]string{
	"addArtifact":   `{"room_id":"r","title":"t","kind":"k","body":"","by":"other"}`,
	"ask":           `{"agent_id":"other","question":"x"}`,
	"addDecision":   `{"room_id":"r","title":"t","by":"other"}`,
	"createInvite":  `{"project":"p","room":"r","by":"other"}`,
	"spawn":         `{"room_id":"r_1","harness":"codex","by":"other"}`,
	"noteTurn":      `{"agent_id":"other","turn":"idle"}`,
	"tellAgent":     `{"agent_id":"other","told_id":1}`,
	"watch":         "/v1/watch?room_id=r&until=message-from:mine&timeout=0&agent_id=other",
	"bindRoom":      `{"path":"/","agent_id":"other"}`,
	"setRoomLocks":  `{"locks":"warn","agent_id":"other"}`,
	"unbindRoom":    `{"path":"/","agent_id":"other"}`,
	"createProject": `{"name":"x","created_by":"other"}`,
	"createRoom":    `{"project":"x","name":"x","created_by":"other"}`,
	"createChannel": `{"name":"x","created_by":"other"}`,
	"claim":         `{"claim_key":"k","owner_agent_id":"other"}`,
	"refreshClaim":  `{"claim_key":"k","owner_agent_id":"other"}`,
	"releaseClaim":  `{"claim_key":"k","agent_id":"other"}`,
	"pollEvents":    "/v1/events?agent_id=other&timeout=0",
	"lock":          `{"file_path":"f","agent_id":"other"}`,
	"refreshLock":   `{"file_path":"f","agent_id":"other"}`,
	"releaseLock":   `{"file_path":"f","agent_id":"other"}`,
	"listMessages":  "/v1/messages?channel=general&agent_id=other",
	"postMessage":   `{"from_agent":"other","body":"x"}`,
	"remember":      `{"room_id":"x","text":"x","by":"other"}`,
	"search":        "/v1/search?q=x&agent_id=other",
	"renameSession": `{"display_name":"x"}`,
	"closeSession":  "/v1/sessions/S",
	"resumeSession": `{"prior_session_id":"S","resume_key":"K"}`,
	"updateTask":    `{"agent_id":"other","status":"working"}`,
	"handoffTask":   `{"agent_id":"other","to_agent":"third"}`,
	"createRun":     `{"title":"x","created_by":"other"}`,
	"addRunTasks":   `{"agent_id":"other","task_ids":[2]}`,

	"browse":            `{"agent_id":"other","action":"snapshot"}`,
	"requestPermission": `{"agent_id":"other","tool":"x"}`,
}

// foreignCall makes a call of an operation as agent "other".
func foreignCall(op *api.Operation) (path, body string) {
	param, given := "1", foreignCalls[op.ID]
	if strings.Contains(op.Path, "{"+op.Agent+"}") {
		param = "other"
	}
	path = op.PathFor(param)
	switch {
	case strings.HasPrefix(given, "/"):
		return given, ""
	case given != "":
		return path, given
	case op.Changes():
		return path, `{"` + op.Agent + `":"other"}`
	}
	return path + "?" + op.Agent + "=other", ""
}

// TestRelayActsAsItsAgentAlone walks the table of operations: through the spool
// of one agent no call acts as another.
func TestRelayActsAsItsAgentAlone(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	other := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"other"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"other","to_agent":"third","thread_id":"t","body":"private"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"other","kind":"task","body":"work"}`)
	fill := strings.NewReplacer("S", fmt.Sprint(other.row("session_id")), "K", fmt.Sprint(other.row("resume_key")))
	relayed := c.with(api.HeaderRelay, "mine")
	table, acting := api.Operations(), 0
	for i := range table {
		op := &table[i]
		if op.Agent == "" || op.Plane == api.PlaneOperator {
			continue // its answer is the same for all agents, or a spool does not carry it
		}
		acting++
		path, body := foreignCall(op)
		relayed.refused(hub.CodeAgentMismatch, op.Method, fill.Replace(path), fill.Replace(body))
	}
	if acting < 50 {
		t.Errorf("only %d operations act as an agent", acting)
	}
	// None of them changed the hub's state.
	if row := c.ok(200, "GET", "/v1/bootstrap?agent_id=other", ""); !strings.Contains(string(row.Result), `"incarnation":1`) {
		t.Errorf("the session of other has changed: %s", row.Result)
	}
	if n := c.ok(200, "GET", "/v1/messages?channel=general", "").rows(); n != 1 {
		t.Errorf("there are %d public messages, want 1", n)
	}
}

// TestRelayStandsForItsAgent: a call that names no agent acts as the agent of
// the spool.
func TestRelayStandsForItsAgent(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	relayed := c.with(api.HeaderRelay, "mine")
	session := relayed.ok(201, "POST", "/v1/sessions", `{"agent_id":"mine"}`)
	task := relayed.ok(201, "POST", "/v1/messages", `{"kind":"task","body":"work"}`)
	if task.row("from_agent") != "mine" || task.row("assurance") != "relay" || task.row("authority") != "agent" {
		t.Errorf("posted %s", task.Result)
	}
	if row := relayed.ok(201, "POST", "/v1/channels", `{"name":"x"}`); row.row("created_by") != "mine" {
		t.Errorf("created %s", row.Result)
	}
	if row := relayed.ok(201, "POST", "/v1/claims", `{"claim_key":"k"}`); row.row("owner_agent_id") != "mine" {
		t.Errorf("claimed %s", row.Result)
	}
	if row := relayed.ok(201, "POST", "/v1/locks", `{"file_path":"f"}`); row.row("agent_id") != "mine" {
		t.Errorf("locked %s", row.Result)
	}
	relayed.ok(200, "POST", "/v1/claims/release", `{"claim_key":"k"}`)
	relayed.ok(200, "POST", fmt.Sprintf("/v1/tasks/%d/complete", task.id()), `{}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"other","to_agent":"mine","body":"for you"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"other","to_agent":"third","body":"not for you"}`)
	if n := relayed.ok(200, "GET", "/v1/events?timeout=0", "").rows(); n != 2 {
		t.Errorf("mine sees %d messages, want its task and what was sent to it", n)
	}
	if row := relayed.ok(200, "GET", "/v1/bootstrap", ""); row.row("agent_id") != "mine" {
		t.Errorf("bootstrap is %s", row.Result)
	}
	// The scope of the key is the agent, with and without a spool.
	keyed := c.with(api.HeaderIdempotency, "once")
	keyed.ok(201, "POST", "/v1/messages", `{"from_agent":"mine","body":"x"}`)
	again := keyed.with(api.HeaderRelay, "mine").ok(201, "POST", "/v1/messages", `{"from_agent":"mine","body":"x"}`)
	if again.header.Get(api.HeaderReplayed) != "true" {
		t.Errorf("the same key posted twice: %s", again.Result)
	}
	full := fmt.Sprint(session.row("session_id"))
	// A session allows no more than the spool does.
	proved := relayed.with(api.HeaderSession, full)
	if row := proved.ok(201, "POST", "/v1/messages", `{"body":"x"}`); row.row("assurance") != "relay" {
		t.Errorf("posted %s", row.Result)
	}
	c.with(api.HeaderRelay, "other").with(api.HeaderSession, full).refused(hub.CodeAgentMismatch, "GET", "/v1/channels", "")
	resumed := relayed.ok(201, "POST", "/v1/sessions/resume",
		`{"prior_session_id":"`+full+`","resume_key":"`+fmt.Sprint(session.row("resume_key"))+`"}`)
	relayed.ok(200, "DELETE", "/v1/sessions/"+fmt.Sprint(resumed.row("session_id")), "")
}

// TestRelayFromAnotherMachine: a call from another machine never counts as a
// call through a spool, even for an open operation.
func TestRelayFromAnotherMachine(t *testing.T) {
	spec, err := contract.Load()
	require.NoError(t, err)
	s := &stub{sessions: map[hub.SessionID]hub.Caller{"s1.secret": {Agent: "agent-1", Session: "s1", Incarnation: 1}}}
	server, err := httpapi.New(httpapi.Config{
		Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, Presence: s, OperatorToken: testToken, InstanceID: testInstance,
		AllowRemote: true, LocalAddrs: fixedAddrs,
	})
	require.NoError(t, err)
	for _, operation := range spec.Operations() {
		parts := strings.Fields(operation)
		for _, headers := range [][]string{{"X-Hub-Relay: agent-1"}, {"X-Hub-Relay: agent-1", "X-Hub-Session: s1.secret"}} {
			if rec, code := remoteCall(t, server, parts[1], parts[0], "", headers...); code != hub.CodeForbiddenRelay {
				t.Errorf("%s %q: %s", operation, headers, rec.Body)
			}
		}
	}
}

// TestRelayLiftsNoSession: the name of a spool proves no session. A caller that
// joins through a spool as a live agent does not get that agent's secrets.
func TestRelayLiftsNoSession(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	newRoom(c, "P", "R")
	code := fmt.Sprint(c.ok(201, "POST", "/v1/invites", `{"project":"p","room":"r","max_uses":9}`).row("code"))
	joined := c.ok(201, "POST", "/v1/invites/"+code+"/accept", `{"agent_id":"alice"}`)
	session, _ := joined.row("session").(map[string]any)
	_, secret, _ := strings.Cut(fmt.Sprint(session["session_id"]), ".")
	forged := c.with(api.HeaderRelay, "alice")
	for _, body := range []string{"", `{"agent_id":"alice"}`} {
		got := forged.ok(201, "POST", "/v1/invites/"+code+"/accept", body)
		if strings.Contains(string(got.Result), secret) || got.row("resume_key") != nil {
			t.Errorf("the header alone has lifted the session: %s", got.Result)
		}
	}
	proved := forged.with(api.HeaderSession, fmt.Sprint(session["session_id"])).ok(201, "POST", "/v1/invites/"+code+"/accept", "")
	if !strings.Contains(string(proved.Result), secret) {
		t.Errorf("who has proved the session got %s", proved.Result)
	}
}

// TestMaxWait: a forwarder that has less time in a later attempt sends the same
// call under the same key.
func TestMaxWait(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	keyed := c.with(api.HeaderIdempotency, "k-1")
	const claim = `{"owner_agent_id":"a","claim_key":"k","wait_sec":60}`
	keyed.with(api.HeaderMaxWait, "25").ok(201, "POST", "/v1/claims", claim)
	if again := keyed.with(api.HeaderMaxWait, "0.5").ok(201, "POST", "/v1/claims", claim); again.header.Get(api.HeaderReplayed) != "true" {
		t.Errorf("the same key claimed twice: %s", again.Result)
	}
	// Another agent holds the key: without the bound these calls would wait a
	// minute.
	none := c.with(api.HeaderMaxWait, "0")
	none.ok(200, "POST", "/v1/claims", `{"owner_agent_id":"b","claim_key":"k","wait_sec":60}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"a","file_path":"f"}`)
	none.ok(200, "POST", "/v1/locks", `{"agent_id":"b","file_path":"f","wait_sec":60}`)
	for _, bad := range []string{"", "x", "-1", "NaN"} {
		c.with(api.HeaderMaxWait, bad).refused(hub.CodeInvalid, "POST", "/v1/claims", claim)
	}
}

// TestRelayIsNotToldToSendTheToken: no fix tells an agent behind a spool to
// send what a forwarder never carries.
func TestRelayIsNotToldToSendTheToken(t *testing.T) {
	c := newClient(t, testhub.Start(t)).with(api.HeaderRelay, "mine")
	for _, path := range []string{"/v1/inbox/operator?as_operator=1", "/v1/shutdown", "/v1/events?agent_id=operator"} {
		got := c.call("GET", path, "")
		if got.Code != hub.CodeOperatorRequired || strings.Contains(got.Fix, "operator.token") {
			t.Errorf("%s: %s, fix %q", path, got.Code, got.Fix)
		}
	}
}

// TestRelayHasNoPower: a spool's call may carry neither the operator's token
// nor an invalid name.
func TestRelayHasNoPower(t *testing.T) {
	e := startEdge(t, nil)
	for _, c := range []struct {
		path    string
		headers []string
		code    hub.Code
	}{
		{"/v1/agents", []string{"X-Hub-Relay: agent-1"}, "ok"},
		{"/v1/agents", []string{"X-Hub-Relay: agent-1", "X-Hub-Session: s1.secret"}, "ok"},
		{"/v1/agents", []string{"X-Hub-Relay: agent-2", "X-Hub-Session: s1.secret"}, hub.CodeAgentMismatch},
		{"/v1/agents", []string{"X-Hub-Relay: agent-1", "X-Hub-Session: s1"}, hub.CodeSessionInvalid},
		{"/v1/hub-info", []string{"X-Hub-Relay: agent-1"}, "ok"},
		{"/v1/hub-info", []string{"X-Hub-Relay:"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: a/b"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: operator"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: system"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: hub"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: a", "X-Hub-Relay: a"}, hub.CodeInvalidAgentID},
		{"/v1/hub-info", []string{"X-Hub-Relay: a", "X-Hub-Operator: " + testToken}, hub.CodeOperatorRequired},
		{"/v1/shutdown", []string{"X-Hub-Relay: a", "X-Hub-Operator: " + testToken}, hub.CodeOperatorRequired},
		{"/v1/shutdown", []string{"X-Hub-Relay: a"}, hub.CodeOperatorRequired},
		{"/v1/inbox/operator", []string{"X-Hub-Relay: a"}, hub.CodeOperatorRequired},
		{"/v1/inbox/a?as_operator=1", []string{"X-Hub-Relay: a"}, hub.CodeOperatorRequired},
		{"/v1/events?agent_id=operator", []string{"X-Hub-Relay: a"}, hub.CodeOperatorRequired},
	} {
		if _, body := e.get(t, c.path, c.headers...); codeOf(t, body) != c.code {
			t.Errorf("%s %q: %s, want %s", c.path, c.headers, body, c.code)
		}
	}
}
