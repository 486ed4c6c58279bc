package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// TestLongPoll: a parked call wakes with the first row, counts as one of eight,
// and ends when its session is replaced.
func TestLongPoll(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	answers := make(chan answer, hub.MaxParkedPerAgent)
	for range hub.MaxParkedPerAgent {
		go func() { answers <- c.call("GET", "/v1/events?agent_id=a&since_id=0&timeout=60", "") }()
	}
	waitParked(t, h, hub.MaxParkedPerAgent)
	c.refused(hub.CodeTooManyPolls, "GET", "/v1/events?agent_id=a&timeout=60", "")
	posted := c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","body":"<wake>"}`)
	for range hub.MaxParkedPerAgent {
		a := <-answers
		if a.rows() != 1 || *a.NextSinceID != posted.id() || string(a.Result) != "["+string(posted.Result)+"]" {
			t.Errorf("woken with %s, next %v", a.Result, a.NextSinceID)
		}
	}
	waitParked(t, h, 0)

	session := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"a"}`)
	full, _ := session.row("session_id").(string)
	go func() {
		answers <- c.with(api.HeaderSession, full).call("GET", "/v1/events?since_id="+string(appendID(posted.id()))+"&timeout=60", "")
	}()
	waitParked(t, h, 1)
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"a"}`)
	if a := <-answers; a.Code != hub.CodeSessionReplaced {
		t.Errorf("the call of a displaced session: %d %s", a.status, a.Code)
	}
	if a := c.ok(200, "HEAD", "/v1/events?agent_id=a&timeout=60&since_id=999", ""); len(a.Result) != 0 {
		t.Errorf("HEAD was answered %q", a.Result)
	}
}

// TestParkedCallOutlivesTimeouts: the deadlines of ordinary calls do not cut
// parked ones.
func TestParkedCallOutlivesTimeouts(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.HTTP = func(c *httpapi.Config) { c.ReadTimeout, c.WriteTimeout = time.Second, 1500*time.Millisecond }
	}))
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k"}`)
	answers := make(chan answer, 2)
	go func() { answers <- c.call("GET", "/v1/events?agent_id=a&timeout=3", "") }()
	go func() {
		answers <- c.call("POST", "/v1/claims", `{"owner_agent_id":"b","claim_key":"k","wait_sec":3}`)
	}()
	for range 2 {
		if a := <-answers; a.status != 200 {
			t.Errorf("a parked call was answered %d %s", a.status, a.Code)
		}
	}
}

// TestLongPage: a page that is sent in parts arrives complete.
func TestLongPage(t *testing.T) {
	e := startEdge(t, nil)
	for _, sizes := range [][]int{{}, {10}, {70 << 10}, {10, 70 << 10, 10}, {40 << 10, 40 << 10, 40 << 10}, {65_400, 60}, {65_536}, {1 << 20, 1 << 20}} {
		var page hub.Page
		want := &strings.Builder{}
		for i, size := range sizes {
			row := fmt.Sprintf(`{"id":%d,"body":%q}`, i+1, strings.Repeat("x", size))
			page.Rows = append(page.Rows, hub.EncodedMessage(row))
			page.NextSinceID = hub.MessageID(i + 1)
			if i > 0 {
				want.WriteString(",")
			}
			want.WriteString(row)
		}
		e.events = func(context.Context, hub.EventsQuery) (hub.Page, error) { return page, nil }
		resp, err := http.Get("http://" + e.addr + "/v1/events?agent_id=a")
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		_ = resp.Body.Close()
		if whole := fmt.Sprintf(`{"ok":true,"result":[%s],"next_since_id":%d}`, want, len(sizes)); string(got) != whole {
			t.Errorf("rows of %v: %d bytes, want %d", sizes, len(got), len(whole))
		}
		if int(resp.ContentLength) != len(got) {
			t.Errorf("rows of %v: Content-Length %d", sizes, resp.ContentLength)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// events reads a stream of server-sent events.
type events struct {
	t    *testing.T
	body io.ReadCloser
	scan *bufio.Scanner
}

func (c *client) stream(query string) *events {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/v1/stream?"+query, nil)
	require.NoError(c.t, err)
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	resp, err := c.http.Do(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		c.t.Fatalf("the stream began with %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return &events{c.t, resp.Body, bufio.NewScanner(resp.Body)}
}

// next returns the next event as "field: value" lines joined by a bar, comments
// left out; empty at the end.
func (e *events) next() string {
	var lines []string
	for e.scan.Scan() {
		line := e.scan.Text()
		switch {
		case line == "" && len(lines) > 0:
			return strings.Join(lines, "|")
		case line != "" && !strings.HasPrefix(line, ":"):
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "|")
}

func TestStream(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.HTTP = func(c *httpapi.Config) { c.Heartbeat = 40 * time.Millisecond }
	}))
	c := newClient(t, h)
	post := func(agent, rest string) answer {
		return c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":%q,"body":"x"%s}`, agent, rest))
	}
	c.ok(201, "POST", "/v1/channels", `{"name":"side"}`)
	first := post("b", "")
	e := c.stream("agent_id=a&exclude_self=1")
	if got, want := e.next(), "id: 1|data: "+string(first.Result); got != want {
		t.Errorf("first event %s, want %s", got, want)
	}
	mine := post("a", "")
	if got, want := e.next(), fmt.Sprintf("id: %d", first.id()); got != want && got != fmt.Sprintf("id: %d", mine.id()) {
		t.Errorf("heartbeat %s", got)
	}
	direct := post("b", `,"to_agent":"a"`)
	post("b", `,"to_agent":"c"`)
	for {
		got := e.next()
		if got == "id: 3|data: "+string(direct.Result) {
			break
		}
		if got != "id: 1" && got != "id: 2" {
			t.Fatalf("unexpected event %q", got)
		}
	}
	for e.next() != "id: 4" { // heartbeats move to what was examined
		if t.Context().Err() != nil {
			t.Fatal("no heartbeat reaches the head")
		}
	}

	side := post("b", `,"channel":"side"`)
	resumed := c.with(api.HeaderLastEventID, "4").stream("agent_id=a&channels=side,general&since_id=1")
	if got, want := resumed.next(), "id: 5|data: "+string(side.Result); got != want {
		t.Errorf("resumed with %s, want %s", got, want)
	}
	c.refused(hub.CodeChannelNotFound, "GET", "/v1/stream?agent_id=a&channel=nowhere", "")
	if a := c.ok(200, "HEAD", "/v1/stream?agent_id=a", ""); a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", a.header)
	}
}

// TestStreamEnds: a stream ends with an error when the session is replaced, and
// without one when the hub stops.
func TestStreamEnds(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	session := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"a"}`)
	full, _ := session.row("session_id").(string)
	displaced := c.with(api.HeaderSession, full).stream("")
	if got := displaced.next(); got != "id: 0" {
		t.Errorf("the stream began with %q", got)
	}
	waitParked(t, h, 1)
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"a"}`)
	if got := displaced.next(); !strings.HasPrefix(got, `event: error|data: {"ok":false`) || !strings.Contains(got, `"code":"session_replaced"`) {
		t.Errorf("the stream ended with %q", got)
	}
	if got := displaced.next(); got != "" {
		t.Errorf("the stream goes on with %q", got)
	}
	stopped := c.stream("agent_id=b")
	stopped.next()
	waitParked(t, h, 1)
	if err := h.Stop(); err != nil {
		t.Error(err)
	}
	for got := stopped.next(); got != ""; got = stopped.next() {
		if got != "id: 0" {
			t.Errorf("the stream of a hub that stops goes on with %q", got)
		}
	}
}
