package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/actors"
	"hubcli/actors/core"
	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
	"hubcli/supervisor"
)

// actorsWith starts a hub with a changed configuration of its actors.
func actorsWith(change func(*actors.Options)) testhub.Option {
	return testhub.With(func(c *supervisor.Config) { c.Actors = change })
}

const postX = `{"from_agent":"a","body":"x"}`

// fullDisk is a journal whose disk has no room.
type fullDisk struct {
	core.Journal
	full *atomic.Bool
}

func (j fullDisk) Room() (bool, int64) {
	if j.full.Load() {
		return false, 1
	}
	return j.Journal.Room()
}

func TestStorageFull(t *testing.T) {
	var full atomic.Bool
	h := testhub.Start(t, actorsWith(func(o *actors.Options) { o.Journal = fullDisk{o.Journal, &full} }))
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/messages", postX)
	full.Store(true)
	if a := c.refused(hub.CodeStorageFull, "POST", "/v1/messages", postX); a.status != 507 || a.Fix == "" {
		t.Errorf("status %d, fix %q", a.status, a.Fix)
	}
	c.refused(hub.CodeStorageFull, "GET", "/readyz", "")
	if n := c.ok(200, "GET", "/v1/messages?channel=general", "").rows(); n != 1 {
		t.Errorf("%d rows can be read", n)
	}
	full.Store(false)
	c.ok(201, "POST", "/v1/messages", postX)
	c.ok(200, "GET", "/readyz", "")
}

// brokenDisk is a journal whose next append fails.
type brokenDisk struct {
	core.Journal
	broken *atomic.Bool
}

func (j brokenDisk) Append(g *core.Group) error {
	if j.broken.Load() {
		return errors.New("input/output error")
	}
	return j.Journal.Append(g)
}

func TestStoreFailed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var broken atomic.Bool
	tree, err := supervisor.Start(supervisor.Config{
		Storage: filepath.Join(t.TempDir(), "store"), Listener: l,
		Actors: func(o *actors.Options) { o.Journal = brokenDisk{o.Journal, &broken} },
	})
	require.NoError(t, err)
	c := newClient(t, &testhub.Hub{Tree: tree, URL: "http://" + l.Addr().String()})
	broken.Store(true)
	c.refused(hub.CodeStoreFailed, "POST", "/v1/messages", postX)
	if err := tree.Wait(t.Context()); err == nil {
		t.Error("a hub whose store failed goes on")
	}
	c.refused(hub.CodeStoreFailed, "GET", "/readyz", "")
	if err := tree.Stop(); err == nil {
		t.Error("the stop of a hub whose store failed tells of no failure")
	}
}

// lostFolder is a journal whose folder is gone.
type lostFolder struct {
	core.Journal
	gone *atomic.Bool
}

func (j lostFolder) Append(g *core.Group) error {
	if j.gone.Load() {
		return hub.NewError(hub.CodeStoreGone, "the store's folder was deleted while the hub ran").WithFix("restore a backup")
	}
	return j.Journal.Append(g)
}

// TestStoreGone: the callers are told what has become of the store, and the hub ends. What
// happens to a real folder is tried with the executable: store_moved.txt.
func TestStoreGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var gone atomic.Bool
	tree, err := supervisor.Start(supervisor.Config{
		Storage: filepath.Join(t.TempDir(), "store"), Listener: l,
		Actors: func(o *actors.Options) { o.Journal = lostFolder{o.Journal, &gone} },
	})
	require.NoError(t, err)
	c := newClient(t, &testhub.Hub{Tree: tree, URL: "http://" + l.Addr().String()})
	gone.Store(true)
	c.refused(hub.CodeStoreGone, "POST", "/v1/messages", postX)
	if err := tree.Wait(t.Context()); err == nil {
		t.Error("a hub whose store is gone goes on")
	}
	if err := tree.Stop(); err == nil {
		t.Error("the stop of a hub whose store is gone tells of no failure")
	}
}

// rottenRows hold a message that fails its checks.
type rottenRows struct{ core.Rows }

func (rottenRows) Message(hub.MessageID) (core.StoredMessage, error) {
	return core.StoredMessage{}, hub.NewError(hub.CodeCorruptRecord, "the store holds a message that fails its checks")
}

func TestCorruptRecord(t *testing.T) {
	h := testhub.Start(t, actorsWith(func(o *actors.Options) { o.Rows, o.RingBytes = rottenRows{o.Rows}, 1 }))
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/messages", postX)
	c.ok(201, "POST", "/v1/messages", postX)
	c.refused(hub.CodeCorruptRecord, "GET", "/v1/messages/1", "")
}

func TestQuarantined(t *testing.T) {
	var faulty atomic.Bool
	h := testhub.Start(t, actorsWith(func(o *actors.Options) {
		o.ApplyHook = func(owner core.Owner, _ core.Fact) {
			if faulty.Load() && owner.Kind == core.OwnerTasks {
				panic("a fault of Apply")
			}
		}
	}))
	c := newClient(t, h)
	faulty.Store(true)
	const task = `{"from_agent":"a","kind":"task","body":"x"}`
	c.ok(201, "POST", "/v1/messages", task) // the caller still gets the row
	for c.call("POST", "/v1/messages", task).Code != hub.CodeQuarantined {
		if t.Context().Err() != nil {
			t.Fatal("the owner is not quarantined")
		}
	}
	c.ok(201, "POST", "/v1/messages", postX)
	status := c.ok(200, "GET", "/v1/app/status", "")
	if list, _ := status.row("quarantined").([]any); len(list) != 1 {
		t.Errorf("app/status shows %v", status.row("quarantined"))
	}
}

func TestStopping(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	require.NoError(t, h.Hub.Stop(t.Context()))
	c.refused(hub.CodeStopping, "POST", "/v1/messages", postX)
}

// TestIdempotency: one key, one effect.
func TestIdempotency(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	keyed := c.with(api.HeaderIdempotency, "key 1")
	first := keyed.ok(201, "POST", "/v1/messages", postX)
	again := keyed.ok(201, "POST", "/v1/messages", postX)
	if first.header.Get(api.HeaderReplayed) != "" || again.header.Get(api.HeaderReplayed) != "true" {
		t.Errorf("replayed: %q, then %q", first.header.Get(api.HeaderReplayed), again.header.Get(api.HeaderReplayed))
	}
	if string(first.Result) != string(again.Result) {
		t.Errorf("answered %s, then %s", first.Result, again.Result)
	}
	keyed.refused(hub.CodeIdempotencyConflict, "POST", "/v1/messages", `{"from_agent":"a","body":"y"}`)
	keyed.ok(201, "POST", "/v1/channels", `{"name":"c","created_by":"a"}`) // another path
	keyed.ok(201, "POST", "/v1/messages", `{"from_agent":"b","body":"y"}`) // another agent
	keyed.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k"}`)
	if a := keyed.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k"}`); a.header.Get(api.HeaderReplayed) != "true" || a.Acquired == nil {
		t.Errorf("a claim again: %v, %s", a.header, a.Result)
	}
}

// TestInProgress: the second of two calls with one key is told that the first
// still runs.
func TestInProgress(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k"}`)
	const wait = `{"owner_agent_id":"b","claim_key":"k","wait_sec":30}`
	answers := make(chan answer, 2)
	for range 2 {
		go func() { answers <- c.with(api.HeaderIdempotency, "w").call("POST", "/v1/claims", wait) }()
	}
	if a := <-answers; a.Code != hub.CodeInProgress {
		t.Errorf("one of two calls: %d %s", a.status, a.Code)
	}
	c.ok(200, "POST", "/v1/claims/release", `{"agent_id":"a","claim_key":"k"}`)
	if a := <-answers; a.status != 201 || a.Acquired == nil || !*a.Acquired {
		t.Errorf("the other call: %d %s", a.status, a.Result)
	}
}

// remoteCall makes a call as if it came from another machine.
func remoteCall(t *testing.T, s *httpapi.Server, method, path, body string, headers ...string) (*httptest.ResponseRecorder, hub.Code) {
	t.Helper()
	r := httptest.NewRequestWithContext(
		context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 6000})),
		method, "http://192.0.2.7:6000"+path, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.99:5000"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	resp := rec.Result()
	if err := checker.Check(r, []byte(body), resp, rec.Body.Bytes()); err != nil {
		t.Error(err)
	}
	if resp.Header.Get("Content-Type") != api.ContentType {
		return rec, "ok"
	}
	return rec, codeOf(t, rec.Body.Bytes())
}

// TestRemote: what another machine may call, and with what.
func TestRemote(t *testing.T) {
	s := &stub{
		status:   hub.AppStatus{InstanceID: testInstance, PID: 1, Journal: hub.JournalStatus{State: hub.JournalOK}},
		sessions: map[hub.SessionID]hub.Caller{"s1.secret": {Agent: "agent-1", Session: "s1", Incarnation: 1}},
	}
	s.post = func(context.Context, hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
		return hub.Outcome[hub.EncodedMessage]{}, hub.NewError(hub.CodeReplyNotFound, "reached")
	}
	server, err := httpapi.New(httpapi.Config{
		Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, OperatorToken: testToken, InstanceID: testInstance, AllowRemote: true,
		LocalAddrs: fixedAddrs,
	})
	require.NoError(t, err)
	const session, operator = "X-Hub-Session: s1.secret", "X-Hub-Operator: " + testToken
	post := `{"from_agent":"agent-1","body":"x"}`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		code               hub.Code
	}{
		{"GET", "/v1/hub-info", "", nil, "ok"},
		{"GET", "/healthz", "", nil, "ok"},
		{"GET", "/readyz", "", nil, hub.CodeSessionRequired},
		{"GET", "/metrics", "", nil, hub.CodeSessionRequired},
		{"GET", "/v1/openapi.json", "", nil, hub.CodeSessionRequired},
		{"GET", "/v1/app/status", "", nil, hub.CodeSessionRequired},
		{"GET", "/v1/agents", "", nil, hub.CodeSessionRequired},
		{"GET", "/v1/agents", "", []string{operator}, hub.CodeSessionRequired},
		{"GET", "/v1/agents", "", []string{session}, "ok"},
		{"GET", "/v1/agents", "", []string{"X-Hub-Session: x"}, hub.CodeSessionInvalid},
		{"POST", "/v1/messages", post, nil, hub.CodeSessionRequired},
		{"POST", "/v1/messages", post, []string{session}, hub.CodeReplyNotFound},
		{"POST", "/v1/messages", `{"from_agent":"agent-2","body":"x"}`, []string{session}, hub.CodeAgentMismatch},
		{"POST", "/v1/sessions", `{"agent_id":"agent-1"}`, nil, hub.CodeOperatorRequired},
		{"POST", "/v1/sessions", `{"agent_id":"agent-1"}`, []string{session}, hub.CodeOperatorRequired},
		{"POST", "/v1/sessions", `{"agent_id":"a b"}`, []string{operator}, hub.CodeInvalidAgentID},
		{"POST", "/v1/sessions/resume", `{}`, nil, hub.CodeInvalid},
		{"DELETE", "/v1/sessions/s1", "", nil, hub.CodeSessionRequired},
		{"DELETE", "/v1/sessions/s2", "", []string{session}, hub.CodeAgentMismatch},
		{"GET", "/v1/shutdown", "", []string{session}, hub.CodeOperatorRequired},
		{"GET", "/v1/shutdown", "", []string{operator}, hub.CodeSessionRequired},
		{"GET", "/v1/inbox/agent-2", "", []string{session}, hub.CodeAgentMismatch},
	} {
		if rec, code := remoteCall(t, server, c.method, c.path, c.body, c.headers...); code != c.code {
			t.Errorf("%s %s %q: %s, want %s", c.method, c.path, c.headers, rec.Body, c.code)
		}
	}
}

// TestLog: each call that changes something and each read as the operator is
// logged in one line, without bodies and secrets.
func TestLog(t *testing.T) {
	var log testlog.Buffer
	h := testhub.Start(t, testhub.Log(slog.New(slog.NewTextHandler(&log, nil))))
	c := newClient(t, h)
	session := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"lead"}`)
	full, _ := session.row("session_id").(string)
	key, _ := session.row("resume_key").(string)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","body":"the-body"}`)
	c.ok(200, "GET", "/v1/messages?channel=general", "")
	c.refused(hub.CodeUnknownKind, "POST", "/v1/messages", `{"from_agent":"lead","kind":"x","body":"the-body"}`)
	c.with(api.HeaderOperator, h.Store.OperatorToken()).ok(200, "GET", "/v1/inbox/lead?as_operator=1", "")
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/inbox/lead?as_operator=1", "")
	c.ok(200, "DELETE", "/v1/sessions/"+full, "")
	c.call("POST", "/v1/sessions/x%0Ay/rename", `{"display_name":"x"}`)
	require.NoError(t, h.Stop())
	text := log.String()
	if n := strings.Count(text, "msg=call "); n != 7 {
		t.Errorf("%d calls are logged:\n%s", n, text)
	}
	for _, want := range []string{
		"method=POST path=/v1/messages agent=lead operator=false status=201 code=ok ms=",
		"status=400 code=unknown_kind",
		"path=/v1/inbox/lead agent=operator operator=true status=200 code=ok",
		"path=/v1/inbox/lead agent=operator operator=false status=403 code=operator_required",
		"path=/v1/sessions/{session_id}",
		`path="/v1/sessions/x\ny/rename"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not show %s:\n%s", want, text)
		}
	}
	for _, secret := range []string{"the-body", full, strings.SplitN(full, ".", 2)[1], key, h.Store.OperatorToken()} {
		if strings.Contains(text, secret) {
			t.Errorf("the log shows %q", secret)
		}
	}
}

// TestStopEndsEverything: Serve returns although calls are parked, connections
// idle and others have sent nothing or half a header.
func TestStopEndsEverything(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(200, "GET", "/healthz", "") // leaves an idle connection
	var conns []net.Conn
	for _, sent := range []string{"", "GET /v1/eve"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
		require.NoError(t, err)
		if _, err := conn.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	parked := make(chan answer, 3)
	for _, path := range []string{"/v1/events?agent_id=a&timeout=60", "/v1/events?agent_id=b&timeout=60", "/v1/messages?channel=general&timeout=60"} {
		go func() { parked <- c.call("GET", path, "") }()
	}
	waitParked(t, h, 3)
	_ = conns[1].Close() // half a header may hold the stop for as long as headers may take
	began := time.Now()
	if err := h.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 8*time.Second { // what has to be cut off holds it up for ten
		t.Errorf("the stop took %v", took)
	}
	for range 3 {
		if a := <-parked; a.status != 200 || a.rows() != 0 || a.NextSinceID == nil {
			t.Errorf("a parked call was answered %d %s", a.status, a.Result)
		}
	}
	_ = conns[0].Close()
}

// waitParked returns once n calls are parked.
func waitParked(t *testing.T, h *testhub.Hub, n int) {
	t.Helper()
	for h.Hub.Counts().ParkedPolls != n {
		select {
		case <-t.Context().Done():
			t.Fatalf("%d calls are parked, want %d", h.Hub.Counts().ParkedPolls, n)
		case <-time.After(time.Millisecond):
		}
	}
}
