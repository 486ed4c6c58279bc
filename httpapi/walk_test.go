package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// client calls a whole hub and checks every exchange against the OpenAPI
// description.
type client struct {
	t       *testing.T
	base    string
	http    *http.Client
	headers map[string]string // sent with every call
}

func newClient(t *testing.T, h *testhub.Hub) *client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: h.URL, http: &http.Client{Transport: checker.Transport(transport)}}
}

// with returns a client that sends one more header.
func (c *client) with(name, value string) *client {
	other := *c
	other.headers = map[string]string{name: value}
	for n, v := range c.headers {
		if n != name {
			other.headers[n] = v
		}
	}
	return &other
}

// answer is what a call returned.
type answer struct {
	api.Envelope
	status int
	header http.Header
}

// row returns one member of the result.
func (a answer) row(name string) any {
	var row map[string]any
	if json.Unmarshal(a.Result, &row) != nil {
		return nil
	}
	return row[name]
}

func (a answer) id() hub.MessageID {
	id, _ := a.row("id").(float64)
	return hub.MessageID(id)
}

// rows returns how many rows a listing has.
func (a answer) rows() int {
	var rows []json.RawMessage
	if json.Unmarshal(a.Result, &rows) != nil {
		return -1
	}
	return len(rows)
}

// call sends one request; body is JSON text or empty.
func (c *client) call(method, path, body string) answer {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	require.NoError(c.t, err)
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	if body != "" {
		r.Header.Set("Content-Type", api.ContentType)
	}
	resp, err := c.http.Do(r)
	require.NoError(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	a := answer{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") == api.ContentType && len(got) != 0 {
		if err := json.NewDecoder(bytes.NewReader(got)).Decode(&a.Envelope); err != nil {
			c.t.Fatalf("%s %s: %v", method, path, err)
		}
	} else {
		a.Result = got
	}
	return a
}

// ok is a call that must succeed with this status.
func (c *client) ok(status int, method, path, body string) answer {
	c.t.Helper()
	a := c.call(method, path, body)
	if a.status != status {
		c.t.Fatalf("%s %s %s: status %d %s %s, want %d", method, path, body, a.status, a.Code, a.Error, status)
	}
	return a
}

// refused is a call that must fail with this code.
func (c *client) refused(code hub.Code, method, path, body string) answer {
	c.t.Helper()
	a := c.call(method, path, body)
	if a.Code != code {
		c.t.Fatalf("%s %s %s: status %d %q %s, want %s", method, path, body, a.status, a.Code, a.Error, code)
	}
	return a
}

// TestWalk makes a call of every operation in the order of a day's work.
func TestWalk(t *testing.T) {
	h := testhub.Start(t, spawning)
	c := newClient(t, h)

	info := c.ok(200, "GET", "/v1/hub-info", "")
	if info.header.Get(api.HeaderInstance) != info.row("instance_id") {
		t.Errorf("the header names %q, the row %v", info.header.Get(api.HeaderInstance), info.row("instance_id"))
	}
	c.ok(200, "GET", "/healthz", "")
	c.ok(200, "GET", "/readyz", "")
	c.ok(200, "GET", "/v1/openapi.json", "")
	c.ok(200, "GET", "/v1/app/status", "")

	lead := walkSessions(t, c)
	walkMessages(t, c, lead)
	walkTasks(t, c)
	walkLeases(t, c)
	walkRooms(t, c, c.with(api.HeaderOperator, h.Store.OperatorToken()))
	walkRuns(t, c)
	walkMemory(t, c)
	walkRecords(t, c)
	walkInvites(t, c)
	walkAsks(c, h)
	walkPermissions(c, h)
	walkSurfaces(t, c, h)
	walkPauses(t, c, h)
	walkMutes(t, c, h)
	walkAddresses(t, c, h)
	walkPasses(t, c, h)
	walkBudgets(t, c, h)
	walkBreaks(t, c, h)
	walkRenames(t, c, h)
	walkArchive(t, c, h)
	walkEnds(t, c, h)
	walkRetires(t, c, h)
	walkClear(t, c, h)
	walkSpawns(t, c, h)
	walkStatus(t, c)
	walkOperator(t, c, h)
	walkGuard(c, h)

	page := string(c.ok(200, "GET", "/metrics", "").Result)
	for _, want := range []string{`hub_http_calls_total{code="ok",operation="postMessage"}`, "hub_messages ", "hub_search_open 1", "hub_search_behind ", "hub_search_documents ", "go_goroutines"} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics do not show %s", want)
		}
	}
}

// walkSessions registers lead and dev and returns a client that proves lead.
func walkSessions(t *testing.T, c *client) *client {
	first := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"lead","display_name":"Lead","capabilities":["go"],"metadata":{"n":1}}`)
	full, _ := first.row("session_id").(string)
	key, _ := first.row("resume_key").(string)
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"dev"}`)
	c.refused(hub.CodeSessionConflict, "POST", "/v1/sessions", `{"agent_id":"lead","replace":false}`)

	resumed := c.ok(201, "POST", "/v1/sessions/resume", `{"prior_session_id":"`+full+`","resume_key":"`+key+`"}`)
	c.refused(hub.CodeResumeDenied, "POST", "/v1/sessions/resume", `{"prior_session_id":"`+full+`","resume_key":"x"}`)
	session, _ := resumed.row("session_id").(string)
	lead := c.with(api.HeaderSession, session)
	lead.ok(200, "GET", "/v1/bootstrap", "")
	c.with(api.HeaderSession, full).refused(hub.CodeSessionReplaced, "GET", "/v1/bootstrap?agent_id=lead", "")
	c.with(api.HeaderSession, "nothing").refused(hub.CodeSessionInvalid, "GET", "/v1/bootstrap?agent_id=lead", "")
	lead.refused(hub.CodeAgentMismatch, "GET", "/v1/bootstrap?agent_id=dev", "")
	lead.refused(hub.CodeAgentMismatch, "POST", "/v1/sessions", `{"agent_id":"dev"}`)

	lead.ok(200, "POST", "/v1/sessions/lead/rename", `{"display_name":"The lead"}`)
	c.refused(hub.CodeSessionNotFound, "POST", "/v1/sessions/nobody/rename", `{"display_name":"x"}`)
	if n := c.ok(200, "GET", "/v1/agents?capability=go&as=dev", "").rows(); n != 1 {
		t.Errorf("%d agents can go", n)
	}
	gone := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"gone"}`)
	id, _ := gone.row("session_id").(string)
	c.ok(200, "DELETE", "/v1/sessions/"+id, "")
	c.refused(hub.CodeSessionNotFound, "DELETE", "/v1/sessions/"+id, "")
	return lead
}

func walkMessages(t *testing.T, c, lead *client) {
	c.ok(201, "POST", "/v1/channels", `{"name":"work","created_by":"lead","metadata":{}}`)
	c.ok(200, "POST", "/v1/channels", `{"name":"work"}`)
	if n := c.ok(200, "GET", "/v1/channels", "").rows(); n != 3 {
		t.Errorf("%d channels", n)
	}
	public := c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","channel":"work","kind":"CHAT","body":"<é>","thread_id":"t/1",
		"attachments":[{"type":"text","content":"a"},{"type":"json","content":{"b":[1]}},{"type":"code","content":"c","language":"go"},
			{"type":"file_ref","path":"d","start_line":1,"end_line":2},{"type":"diff_ref","path":"e","base":"f","head":"g"}]}`)
	if public.row("assurance") != "asserted" || public.row("kind") != "chat" {
		t.Errorf("the row is %s", public.Result)
	}
	direct := lead.ok(201, "POST", "/v1/messages", `{"to_agent":"dev","body":"psst","thread_id":"t/1"}`)
	if direct.row("from_agent") != "lead" || direct.row("assurance") != "session" || direct.row("channel") != "direct" {
		t.Errorf("the row is %s", direct.Result)
	}

	path := "/v1/messages/" + string(appendID(direct.id()))
	c.ok(200, "GET", path+"?agent_id=dev", "")
	lead.ok(200, "GET", path, "")
	c.refused(hub.CodeMessageNotFound, "GET", path, "")
	c.refused(hub.CodeMessageNotFound, "GET", path+"?agent_id=other", "")

	for _, by := range []*client{c.with(api.HeaderRelay, "dev"), lead} {
		if got := by.ok(200, "GET", path+"/receipt", ""); got.row("state") != "stored" {
			t.Errorf("the receipt is %s", got.Result)
		}
	}
	c.refused(hub.CodeMessageNotFound, "GET", path+"/receipt?agent_id=other", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/messages/"+string(appendID(public.id()))+"/receipt", "")

	if n := c.ok(200, "GET", "/v1/messages?channel=work&tail=1&limit=5", "").rows(); n != 1 {
		t.Errorf("%d messages in work", n)
	}
	c.refused(hub.CodeChannelNotFound, "GET", "/v1/messages?channel=nowhere", "")
	page := c.ok(200, "GET", "/v1/events?agent_id=dev&timeout=0&max_chars=10&exclude_self=yes", "")
	if page.rows() != 1 || page.NextSinceID == nil || *page.NextSinceID < direct.id() {
		t.Errorf("dev polled %s, next %v", page.Result, page.NextSinceID)
	}
	c.ok(200, "GET", "/v1/events?agent_id=dev&timeout=0&channel=work&channel=general&thread_id=t/1", "")
	c.refused(hub.CodeChannelNotFound, "GET", "/v1/events?agent_id=dev&timeout=0&channel=nowhere", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/events?agent_id=dev&timeout=0&room_id=r", "")
	if n := c.ok(200, "GET", "/v1/inbox/dev", "").rows(); n != 1 {
		t.Errorf("%d direct messages to dev", n)
	}
	if n := c.ok(200, "GET", "/v1/threads", "").rows(); n != 1 {
		t.Errorf("%d threads", n)
	}
	for _, form := range []string{"t/1", "t%2F1"} {
		var thread hub.Thread
		if err := json.Unmarshal(c.ok(200, "GET", "/v1/threads/"+form+"?agent_id=dev", "").Result, &thread); err != nil || len(thread.Messages) != 2 {
			t.Errorf("thread %s: %v, %d messages", form, err, len(thread.Messages))
		}
	}
	c.refused(hub.CodeThreadNotFound, "GET", "/v1/threads/none", "")
	refusedPosts(c)
}

func appendID(id hub.MessageID) []byte {
	b, _ := json.Marshal(id)
	return b
}

// refusedPosts makes every refusal of a post that needs no other state.
func refusedPosts(c *client) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, p := range []struct {
		code hub.Code
		body string
	}{
		{hub.CodeReservedAgent, `{"from_agent":"system","body":"x"}`},
		{hub.CodeInvalidAgentID, `{"from_agent":"a/b","body":"x"}`},
		{hub.CodeUnknownKind, `{"from_agent":"a","kind":"shout","body":"x"}`},
		{hub.CodeChannelNotFound, `{"from_agent":"a","channel":"nowhere","body":"x"}`},
		{hub.CodeReplyNotFound, `{"from_agent":"a","reply_to":999999,"body":"x"}`},
		{hub.CodeParentNotFound, `{"from_agent":"a","kind":"task","parent_task_id":999999,"body":"x"}`},
		{hub.CodeReplyRequired, `{"from_agent":"a","kind":"task_result","body":"x"}`},
		{hub.CodeReservedMetadata, `{"from_agent":"a","metadata":{"wake":1},"body":"x"}`},
		{hub.CodeMetadataTooDeep, `{"from_agent":"a","metadata":` + strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat(`}`, 33) + `,"body":"x"}`},
		{hub.CodeMetadataTooLarge, `{"from_agent":"a","metadata":{"a":"` + long(hub.MaxMetadataBytes) + `"},"body":"x"}`},
		{hub.CodeBodyTooLarge, `{"from_agent":"a","body":"` + long(128_001) + `"}`},
		{hub.CodeAttachmentTooLarge, `{"from_agent":"a","attachments":[{"type":"text","content":"` + long(256_000) + `"}]}`},
		{hub.CodeTooManyAttachments, `{"from_agent":"a","attachments":[` + strings.TrimSuffix(strings.Repeat(`{"type":"json","content":1},`, 33), ",") + `]}`},
		{hub.CodeInvalid, `{"from_agent":"a"}`},
		{hub.CodeInvalidJSON, `{"from_agent":"a",}`},
	} {
		c.refused(p.code, "POST", "/v1/messages", p.body)
	}
	if a := c.refused(hub.CodeChannelNotFound, "POST", "/v1/messages", `{"from_agent":"a","channel":"nowhere","body":"x"}`); a.status != 400 {
		c.t.Errorf("a post to no channel: status %d", a.status)
	}
	c.refused(hub.CodeReservedName, "POST", "/v1/channels", `{"name":"room-1"}`)
}

// walkUndecided: what waited for a task that has failed is begun and completed by its creator alone.
func walkUndecided(c *client) {
	path := func(a answer) string { return "/v1/tasks/" + string(appendID(a.id())) }
	base := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"base"}`)
	next := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"next","blocked_by":[`+string(appendID(base.id()))+`]}`)
	c.ok(200, "POST", path(base), `{"agent_id":"dev","status":"failed"}`)
	for call, body := range map[string]string{
		path(next):               `{"agent_id":"dev","status":"working","force":true}`,
		path(next) + "/complete": `{"agent_id":"dev"}`,
		"/v1/messages":           `{"from_agent":"dev","kind":"task_result","reply_to":` + string(appendID(next.id())) + `,"body":"done"}`,
	} {
		c.refused(hub.CodeUndecided, "POST", call, body)
	}
	c.ok(200, "POST", path(next), `{"agent_id":"lead","blocked_by":[]}`)
	c.ok(200, "POST", path(next)+"/complete", `{"agent_id":"dev"}`)
}

func walkTasks(t *testing.T, c *client) {
	path := func(a answer) string { return "/v1/tasks/" + string(appendID(a.id())) }
	parent := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"the whole"}`)
	child := func() answer {
		return c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","to_agent":"dev","kind":"task_request","parent_task_id":`+string(appendID(parent.id()))+`,"body":"a part"}`)
	}
	one, two := child(), child()
	c.ok(200, "POST", path(one), `{"agent_id":"dev","status":"in_progress","expected_version":1}`)
	c.refused(hub.CodeVersionConflict, "POST", path(one), `{"agent_id":"dev","status":"done","expected_version":1}`)
	c.ok(200, "POST", path(two), `{"agent_id":"dev","blocked_by":[`+string(appendID(one.id()))+`],"assignee":"dev"}`)
	if n := c.ok(200, "GET", "/v1/tasks?status=active&agent_id=dev&ready=true&limit=10", "").rows(); n < 1 {
		t.Errorf("%d tasks are ready", n)
	}
	for call, body := range map[string]string{
		path(two):               `{"agent_id":"dev","status":"working"}`,
		path(two) + "/complete": `{"agent_id":"dev"}`,
		"/v1/messages":          `{"from_agent":"dev","kind":"task_result","reply_to":` + string(appendID(two.id())) + `,"body":"done"}`,
	} {
		c.refused(hub.CodeBlocked, "POST", call, body)
	}
	forced := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","body":"later","blocked_by":[`+string(appendID(two.id()))+`]}`)
	c.ok(200, "POST", path(forced), `{"agent_id":"dev","status":"in_progress","force":true}`)
	c.ok(200, "GET", path(two)+"?agent_id=dev", "")
	walkUndecided(c)
	c.refused(hub.CodeInvalid, "POST", path(forced), `{"agent_id":"dev","assignee":"dev","release":true}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"dev","task_message_id":`+string(appendID(forced.id()))+`}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"dev","file_path":"forced.go","metadata":{"task_id":`+string(appendID(forced.id()))+`}}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"dev","file_path":"other.go"}`)
	held := c.ok(200, "GET", path(forced)+"/leases?agent_id=dev", "")
	if claims, locks := held.row("claim_count"), held.row("lock_count"); claims != 1.0 || locks != 1.0 {
		t.Errorf("%v claims and %v locks are held for the task", claims, locks)
	}
	c.refused(hub.CodeTaskNotFound, "GET", path(one)+"/leases?agent_id=other", "")
	c.ok(200, "POST", "/v1/locks/release", `{"agent_id":"dev","file_path":"other.go"}`)
	c.ok(200, "POST", path(forced), `{"agent_id":"dev","status":"completed","release":true}`)
	c.refused(hub.CodeNotHolder, "POST", "/v1/claims/release", `{"agent_id":"dev","claim_key":"task-`+string(appendID(forced.id()))+`"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/messages", `{"from_agent":"lead","body":"chat","blocked_by":[`+string(appendID(two.id()))+`]}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/messages", `{"from_agent":"lead","body":"chat","force":true}`)
	c.ok(200, "GET", path(one)+"?agent_id=dev", "")
	c.refused(hub.CodeTaskNotFound, "GET", path(one)+"?agent_id=other", "")
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","kind":"task_result","reply_to":`+string(appendID(one.id()))+`,"body":"done"}`)
	c.ok(200, "POST", path(two)+"/complete", `{"agent_id":"dev","note":"too"}`)
	if status := c.ok(200, "GET", path(parent), "").row("status"); status != "done" {
		t.Errorf("the parent is %v", status)
	}
	c.refused(hub.CodeTaskClosed, "POST", path(one), `{"agent_id":"dev","status":"working"}`)
	c.refused(hub.CodeTaskNotFound, "POST", "/v1/tasks/999999/complete", `{"agent_id":"dev"}`)
	c.refused(hub.CodeTaskClosed, "POST", "/v1/messages", `{"from_agent":"lead","kind":"task","parent_task_id":`+string(appendID(parent.id()))+`,"body":"late"}`)

	deepest := parent
	for level := range hub.MaxTaskDepth + 1 {
		body := `{"from_agent":"lead","kind":"task","body":"x"}`
		if level > 0 {
			body = `{"from_agent":"lead","kind":"task","parent_task_id":` + string(appendID(deepest.id())) + `,"body":"x"}`
		}
		if deepest = c.call("POST", "/v1/messages", body); deepest.status != 201 {
			break
		}
	}
	if deepest.Code != hub.CodeTaskTooDeep {
		t.Errorf("a tree of %d levels: %d %s", hub.MaxTaskDepth+1, deepest.status, deepest.Code)
	}
}

func walkLeases(t *testing.T, c *client) {
	for _, kind := range []struct{ path, key, owner, hold string }{
		{"/v1/claims", `"claim_key":"k"`, "owner_agent_id", "agent_id"},
		{"/v1/locks", `"file_path":"/a/b.go"`, "agent_id", "agent_id"},
	} {
		body := func(name, agent, rest string) string {
			return `{` + kind.key + `,"` + name + `":"` + agent + `"` + rest + `}`
		}
		a := c.ok(201, "POST", kind.path, body(kind.owner, "lead", `,"ttl_sec":60,"metadata":{"why":"x"}`))
		if a.Acquired == nil || !*a.Acquired {
			t.Errorf("%s: not acquired: %s", kind.path, a.Result)
		}
		b := c.ok(200, "POST", kind.path, body(kind.owner, "dev", `,"wait_sec":0.01`))
		if b.Acquired == nil || *b.Acquired || b.row(kind.owner) != "lead" {
			t.Errorf("%s: acquired by two: %s", kind.path, b.Result)
		}
		if a := c.ok(200, "POST", kind.path+"/refresh", body(kind.owner, "lead", `,"fence":`+number(a.row("fence")))); a.Acquired == nil || !*a.Acquired {
			t.Errorf("%s: refresh: %s", kind.path, a.Result)
		}
		c.refused(hub.CodeNotHolder, "POST", kind.path+"/refresh", body(kind.owner, "dev", ""))
		if n := c.ok(200, "GET", kind.path+"?active_only=1&limit=10", "").rows(); n != 1 {
			t.Errorf("%s: %d rows", kind.path, n)
		}
		c.ok(200, "POST", kind.path+"/release", body(kind.hold, "lead", ""))
		c.refused(hub.CodeNotHolder, "POST", kind.path+"/release", body(kind.hold, "lead", ""))
		c.ok(201, "POST", kind.path, body(kind.owner, "lead", ""))
		c.refused(hub.CodeStaleFence, "POST", kind.path+"/release", body(kind.hold, "lead", `,"fence":`+number(a.row("fence"))))
	}
}

func number(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func walkOperator(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	if a := operator.ok(201, "POST", "/v1/messages", `{"body":"stop that"}`); a.row("authority") != "operator" || a.row("from_agent") != "operator" {
		t.Errorf("the operator posted %s", a.Result)
	}
	before := operator.ok(200, "GET", "/v1/inbox/operator", "").rows()
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","to_agent":"operator","body":"help"}`)
	if n := operator.ok(200, "GET", "/v1/inbox/operator", "").rows(); n != before+1 {
		t.Errorf("%d messages to the operator", n)
	}
	if n := operator.ok(200, "GET", "/v1/inbox/dev?as_operator=1", "").rows(); n < 1 {
		t.Errorf("the operator sees %d messages to dev", n)
	}
	walkLog(t, c, operator)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/shutdown", `{}`)
	if a := operator.ok(200, "POST", "/v1/shutdown", `{"delay_sec":600}`); a.row("pending") != true {
		t.Errorf("shutdown: %s", a.Result)
	}
	operator.ok(200, "GET", "/v1/shutdown", "")
	if a := operator.ok(200, "POST", "/v1/shutdown/cancel", ""); a.row("pending") != false {
		t.Errorf("cancel: %s", a.Result)
	}
}

// walkLog reads the log as anybody and as the operator.
func walkLog(t *testing.T, c, operator *client) {
	public := c.ok(200, "GET", "/v1/log", "").rows()
	if all := operator.ok(200, "GET", "/v1/log?direct=1", "").rows(); public == 0 || all <= public {
		t.Errorf("the log has %d rows, with direct messages %d", public, all)
	}
	if n := operator.ok(200, "GET", "/v1/log?direct=1&agent=operator&tail=1&limit=2", "").rows(); n != 2 {
		t.Errorf("%d of the last two rows of the operator", n)
	}
	if n := c.ok(200, "GET", "/v1/log?since=2000-01-01T00:00:00Z&until=2000-01-01T00:00:01Z", "").rows(); n != 0 {
		t.Errorf("%d rows of long ago", n)
	}
	if n := c.ok(200, "GET", "/v1/log?channel=general", "").rows(); n == 0 {
		t.Error("the channel general has no row")
	}
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/log?direct=1", "")
	c.refused(hub.CodeChannelNotFound, "GET", "/v1/log?channel=none", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/log?room_id=none", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/log?channel=general&thread_id=t", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/log?since=yesterday", "")
}
