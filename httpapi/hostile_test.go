package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestMethodsAndPaths: nothing is redirected, cleaned or guessed.
func TestMethodsAndPaths(t *testing.T) {
	e := startEdge(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/uix", 404, ""},
		{"POST", "/", 405, "GET, HEAD"},
		{"POST", "/ui/", 405, "GET, HEAD"},
		{"GET", "/v1", 404, ""},
		{"GET", "/v1/hub-info/", 404, ""},
		{"GET", "/V1/hub-info", 404, ""},
		{"GET", "/v1/HUB-INFO", 404, ""},
		{"GET", "//v1/hub-info", 404, ""},
		{"GET", "/v1//hub-info", 404, ""},
		{"GET", "/v1/../v1/hub-info", 404, ""},
		{"GET", "/v1/./hub-info", 404, ""},
		{"GET", "/v1/hub-info%00", 404, ""},
		{"GET", "/v1/hub%2Dinfo", 200, ""},
		{"GET", "/v1/hub-info?", 200, ""},
		{"GET", "/v1/inbox/", 404, ""},
		{"GET", "/v1/inbox/a%2Fb", 404, ""},
		{"GET", "/v1/nowhere", 404, ""},
		{"HEAD", "/v1/hub-info", 200, ""},
		{"HEAD", "/nowhere", 404, ""},
		{"OPTIONS", "/v1/hub-info", 405, "GET, HEAD"},
		{"OPTIONS", "*", 404, ""},
		{"TRACE", "/v1/hub-info", 405, "GET, HEAD"},
		{"PATCH", "/v1/messages", 405, "GET, HEAD, POST"},
		{"get", "/v1/hub-info", 405, "GET, HEAD"},
		{"BREW", "/v1/hub-info", 405, "GET, HEAD"},
		{"POST", "/v1/sessions/other", 405, "DELETE"},
		{"GET", "/v1/sessions/resume", 405, "DELETE, POST"},
		{"GET", "/v1/sessions", 405, "POST"},
		{"DELETE", "/v1/messages/7", 405, "GET, HEAD"},
		{"HEAD", "/v1/shutdown/cancel", 405, "POST"},
	} {
		resp, body := e.send(t, c.method, c.path, "")
		if resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: status %d, Allow %q: %s", c.method, c.path, resp.StatusCode, resp.Header.Get("Allow"), body)
		}
		if resp.Header.Get("X-Hub-Instance") != testInstance {
			t.Errorf("%s %s: the answer does not name the store", c.method, c.path)
		}
		if c.method == "HEAD" && len(body) != 0 {
			t.Errorf("HEAD %s: body %q", c.path, body)
		}
	}
}

// TestHostileInput: malformed input is refused with a code that says why.
func TestHostileInput(t *testing.T) {
	e := startEdge(t, nil)
	const json = "Content-Type: application/json"
	post := `{"from_agent":"a","body":"x"}`
	many := "/v1/agents?" + strings.Repeat("p=1&", hub.MaxQueryParameters) + "p=1"
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		code                     hub.Code
	}{
		{"form", "POST", "/v1/messages", post, []string{"Content-Type: application/x-www-form-urlencoded"}, hub.CodeUnsupportedMedia},
		{"text", "POST", "/v1/messages", post, []string{"Content-Type: text/plain"}, hub.CodeUnsupportedMedia},
		{"multipart", "POST", "/v1/messages", post, []string{"Content-Type: multipart/form-data; boundary=x"}, hub.CodeUnsupportedMedia},
		{"empty type", "POST", "/v1/messages", post, []string{"Content-Type:"}, hub.CodeUnsupportedMedia},
		{"two types", "POST", "/v1/messages", post, []string{json, "Content-Type: text/plain"}, hub.CodeUnsupportedMedia},
		{"type that begins alike", "POST", "/v1/messages", post, []string{"Content-Type: application/jsonx"}, hub.CodeUnsupportedMedia},
		{"another charset", "POST", "/v1/messages", post, []string{json + "; charset=utf-16"}, hub.CodeUnsupportedMedia},
		{"compressed", "POST", "/v1/messages", post, []string{json, "Content-Encoding: gzip"}, hub.CodeUnsupportedMedia},
		{"type on a call without a body", "DELETE", "/v1/sessions/x", "", []string{"Content-Type: text/plain"}, hub.CodeUnsupportedMedia},
		{"broken", "POST", "/v1/messages", `{"from_agent"`, []string{json}, hub.CodeInvalidJSON},
		{"list", "POST", "/v1/messages", `[]`, []string{json}, hub.CodeInvalidJSON},
		{"twice", "POST", "/v1/messages", `{"body":"a","body":"b"}`, []string{json}, hub.CodeInvalidJSON},
		{"bad UTF-8", "POST", "/v1/messages", "{\"body\":\"\xc3\"}", []string{json}, hub.CodeInvalidJSON},
		{"another case", "POST", "/v1/messages", `{"FROM_AGENT":"a","body":"x"}`, []string{json}, hub.CodeInvalid},
		{"wrong type", "POST", "/v1/messages", `{"from_agent":7}`, []string{json}, hub.CodeInvalid},
		{"no body", "POST", "/v1/messages", "", nil, hub.CodeInvalid},
		{"deep", "POST", "/v1/messages", strings.Repeat(`{"a":`, 100), nil, hub.CodeInvalidJSON},
		{"huge number", "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k","wait_sec":1e999}`, nil, hub.CodeInvalidJSON},
		{"fraction", "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k","ttl_sec":1.5}`, nil, hub.CodeInvalid},
		{"zero", "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k","ttl_sec":0}`, nil, hub.CodeInvalid},
		{"key too long", "POST", "/v1/messages", post, []string{"Idempotency-Key: " + strings.Repeat("k", 256)}, hub.CodeInvalid},
		{"key empty", "POST", "/v1/messages", post, []string{"Idempotency-Key:"}, hub.CodeInvalid},
		{"key twice", "POST", "/v1/messages", post, []string{"Idempotency-Key: a", "Idempotency-Key: a"}, hub.CodeInvalid},
		{"key with a tab", "POST", "/v1/messages", post, []string{"Idempotency-Key: a\tb"}, hub.CodeInvalid},
		{"key not ASCII", "POST", "/v1/messages", post, []string{"Idempotency-Key: é"}, hub.CodeInvalid},
		{"many parameters", "GET", many, "", nil, hub.CodeInvalid},
		{"broken escape", "GET", "/v1/agents?as=%zz", "", nil, hub.CodeInvalid},
		{"parameter twice", "GET", "/v1/events?agent_id=a&agent_id=b", "", nil, hub.CodeInvalid},
		{"no agent", "GET", "/v1/events", "", nil, hub.CodeInvalid},
		{"slash in an agent", "GET", "/v1/events?agent_id=a/b", "", nil, hub.CodeInvalidAgentID},
		{"limit 0", "GET", "/v1/events?agent_id=a&limit=0", "", nil, hub.CodeInvalid},
		{"negative cursor", "GET", "/v1/events?agent_id=a&since_id=-1", "", nil, hub.CodeInvalid},
		{"negative timeout", "GET", "/v1/events?agent_id=a&timeout=-1", "", nil, hub.CodeInvalid},
		{"channel and room", "GET", "/v1/events?agent_id=a&channel=c&room_id=r", "", nil, hub.CodeInvalid},
		{"Last-Event-ID", "GET", "/v1/stream?agent_id=a", "", []string{"Last-Event-ID: 1;DROP"}, hub.CodeInvalid},
		{"no scope", "GET", "/v1/messages", "", nil, hub.CodeInvalid},
		{"message id", "GET", "/v1/messages/07", "", nil, hub.CodeMessageNotFound},
		{"message id beyond all", "GET", "/v1/messages/9007199254740992", "", nil, hub.CodeMessageNotFound},
		{"task id", "GET", "/v1/tasks/x", "", nil, hub.CodeTaskNotFound},
		{"task status", "GET", "/v1/tasks?status=paused", "", nil, hub.CodeInvalid},
		{"run status", "GET", "/v1/runs?status=open", "", nil, hub.CodeInvalid},
		{"run without title", "POST", "/v1/runs", `{"task_ids":[1]}`, nil, hub.CodeInvalid},
		{"offer of task 0", "POST", "/v1/tasks/0/handoff", `{"to_agent":"b"}`, nil, hub.CodeTaskNotFound},
		{"offer to nobody", "POST", "/v1/tasks/1/handoff", `{}`, nil, hub.CodeInvalid},
		{"inbox", "GET", "/v1/inbox/a%20b", "", nil, hub.CodeInvalidAgentID},
		{"thread id", "GET", "/v1/threads/" + strings.Repeat("x", 201), "", nil, hub.CodeThreadNotFound},
		{"empty thread id", "GET", "/v1/threads/", "", nil, hub.CodeNotFound},
		{"rename", "POST", "/v1/sessions/hub/rename", `{"display_name":"x"}`, nil, hub.CodeReservedAgent},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, body := e.send(t, c.method, c.path, c.body, c.headers...); codeOf(t, body) != c.code {
				t.Errorf("got %s, want %s", body, c.code)
			}
		})
	}
	for _, accepted := range []string{json, "content-type: Application/JSON;charset=UTF-8", json + `; charset="utf-8"`} {
		if _, body := e.send(t, "POST", "/v1/messages", "{}", accepted); codeOf(t, body) != hub.CodeInvalid {
			t.Errorf("%s: %s", accepted, body)
		}
	}
}

// TestBodyLimits: a body whose announced or actual size is too large is
// refused, and the connection is closed.
func TestBodyLimits(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) {
		c.Limits = hub.Limits{MaxBodyChars: 10, MaxAttachmentChars: 10, MaxAttachments: 1}
	})
	for name, raw := range map[string]string{
		"announced": "Content-Length: 99999999999\r\n\r\n",
		"sent":      "Transfer-Encoding: chunked\r\n\r\n" + chunks(3<<20),
	} {
		resp, body := e.exchange(t, "POST /v1/messages HTTP/1.1\r\nHost: "+e.addr+"\r\n"+raw)
		if codeOf(t, body) != hub.CodeRequestTooLarge || !resp.Close {
			t.Errorf("%s: %s, closed %v", name, body, resp.Close)
		}
	}
	if _, body := e.send(t, "POST", "/v1/channels", `{"name":"`+strings.Repeat("n", 1<<20)+`"}`); codeOf(t, body) != hub.CodeRequestTooLarge {
		t.Errorf("a call without a message: %.200s", body)
	}
}

func chunks(n int) string {
	const size = 64 << 10
	chunk := fmt.Sprintf("%x\r\n%s\r\n", size, strings.Repeat(" ", size))
	return strings.Repeat(chunk, n/size) + "0\r\n\r\n"
}

// TestBodyBudget: all bodies together stay within their budget, and afterwards
// the whole budget is available again.
func TestBodyBudget(t *testing.T) {
	large := startEdge(t, nil)
	for range 8 { // large buffers that wait for the next body
		_, _ = large.send(t, "POST", "/v1/messages", `{"from_agent":"system","body":"`+strings.Repeat("x", 60<<10)+`"}`)
	}
	e := startEdge(t, func(c *httpapi.Config) { c.MaxBodiesInFlight = 16 << 10 })
	post := func(size int) hub.Code {
		_, body := e.send(t, "POST", "/v1/messages", `{"from_agent":"system","body":"`+strings.Repeat("x", size)+`"}`)
		return codeOf(t, body)
	}
	for range 3 {
		if code := post(32 << 10); code != hub.CodeOverloaded {
			t.Errorf("a body beyond the budget: %s", code)
		}
		if code := post(6 << 10); code != hub.CodeReservedAgent {
			t.Errorf("a body within the budget: %s", code)
		}
	}
	_, page := e.get(t, "/metrics")
	if !strings.Contains(string(page), "\nhub_http_body_bytes 0\n") {
		t.Errorf("bytes are still counted:\n%s", page)
	}
}

// TestSlowClients: a client that sends its header or body too slowly is cut off.
func TestSlowClients(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) { c.ReadTimeout = 100 * time.Millisecond })
	header := "POST /v1/messages HTTP/1.1\r\nHost: " + e.addr + "\r\nContent-Length: 100\r\n"
	if resp, body := e.exchange(t, header+"\r\n{"); codeOf(t, body) != hub.CodeTimedOut || !resp.Close {
		t.Errorf("a body: %s, closed %v", body, resp.Close)
	}
	e = startEdge(t, func(c *httpapi.Config) { c.ReadHeaderTimeout = 50 * time.Millisecond })
	for name, sent := range map[string]string{"no byte": "", "half a header": header} {
		conn, err := net.Dial("tcp", e.addr)
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(45*time.Second)))
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, answered %q", name, err, got)
		}
		_ = conn.Close()
	}
}

func TestLargeHeader(t *testing.T) {
	e := startEdge(t, nil)
	if resp, _ := e.get(t, "/v1/hub-info", "X-Long: "+strings.Repeat("x", 10<<10)); resp.StatusCode != 200 {
		t.Errorf("a header of 10 KiB: %d", resp.StatusCode)
	}
	conn, err := net.Dial("tcp", e.addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	// The server may close before it has read all; then the answer may be lost.
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: "+e.addr+"\r\nX-Long: "+strings.Repeat("x", 30<<10)+"\r\n\r\n")
	if got, err := io.ReadAll(conn); err == nil && !strings.HasPrefix(string(got), "HTTP/1.1 431 ") {
		t.Errorf("a header of 30 KiB was answered with %.60q", got)
	}
}

// TestConnectionLimit: one connection more waits until another ends, or has been silent for too long.
func TestConnectionLimit(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) { c.MaxConnections = 1 })
	first, err := net.Dial("tcp", e.addr)
	require.NoError(t, err)
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Get("http://" + e.addr + "/healthz")
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	defer http.DefaultClient.CloseIdleConnections()
	select {
	case status := <-answered:
		t.Errorf("a connection beyond the limit was answered with %d", status)
	case <-time.After(50 * time.Millisecond):
	}
	_ = first.Close()
	if status := <-answered; status != 200 {
		t.Errorf("the next connection: status %d", status)
	}
}

// TestPanic: a handler that panics answers in the envelope, the connection goes on, and
// the agent has lost no turn.
func TestPanic(t *testing.T) {
	e := startEdge(t, nil)
	e.post = func(context.Context, hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
		panic("boom \n\x1b[31m secret-body")
	}
	for range 9 { // one more than an agent has turns
		resp, body := e.send(t, "POST", "/v1/messages", `{"from_agent":"a","body":"the body"}`)
		if codeOf(t, body) != hub.CodeInternal || resp.Close {
			t.Errorf("answered %s, closed %v", body, resp.Close)
		}
	}
	require.NoError(t, e.stop())
	log := e.log.String()
	if !strings.Contains(log, "handler panicked") || !strings.Contains(log, "stack=") {
		t.Errorf("the log does not show the panic: %s", log)
	}
	if strings.Contains(log, "the body") || strings.Contains(log, "\x1b") {
		t.Errorf("the log shows what it must not: %s", log)
	}
}

// TestStopCutsOff: a call that does not end in time is cut off, and Serve still
// waits for its handler.
func TestStopCutsOff(t *testing.T) {
	e := startEdge(t, func(c *httpapi.Config) { c.StopTimeout = 50 * time.Millisecond })
	began, ended := make(chan struct{}), make(chan struct{})
	e.events = func(ctx context.Context, _ hub.EventsQuery) (hub.Page, error) {
		close(began)
		<-ctx.Done()
		defer close(ended)
		return hub.Page{}, ctx.Err()
	}
	failed := make(chan error, 1)
	go func() {
		resp, err := http.Get("http://" + e.addr + "/v1/events?agent_id=a")
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	<-began
	if err := e.stop(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("Serve returned before the call ended")
	}
	if <-failed == nil {
		t.Error("the call was answered")
	}
}
