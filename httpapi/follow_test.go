package httpapi_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// hubStream reads server-sent events; each is its lines.
type hubStream struct {
	t    *testing.T
	body *bufio.Scanner
	end  func()
}

func openStream(t *testing.T, c *client, lastID string) *hubStream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/app/stream", http.NoBody)
	require.NoError(t, err)
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	if lastID != "" {
		r.Header.Set(api.HeaderLastEventID, lastID)
	}
	res, err := c.http.Do(r)
	require.NoError(t, err)
	if res.StatusCode != 200 {
		t.Fatalf("the stream is answered %d", res.StatusCode)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &hubStream{t: t, body: bufio.NewScanner(res.Body), end: func() { _ = res.Body.Close() }}
}

// until returns the next event of a type whose data has a text, and its id.
func (e *hubStream) until(kind, has string) (id string) {
	e.t.Helper()
	var event, data string
	for e.body.Scan() {
		name, value, _ := strings.Cut(e.body.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "data":
			data = value
		case "id":
			id = value
		case "":
			if event == kind && strings.Contains(data, has) {
				return id
			}
			event, data = "", ""
		}
	}
	e.t.Fatalf("the stream ended before an event %s with %s", kind, has)
	return ""
}

// TestStreamOfTheHub: the operator alone follows the hub, two readers are told the same, one
// that comes back misses nothing, and the stream ends with its pass.
func TestStreamOfTheHub(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/app/stream", "")
	for _, id := range []string{"x", "1", "1-", "-1-1", "01-1", "1-1-1", "9007199254740993-1"} {
		operator.with(api.HeaderLastEventID, id).refused(hub.CodeInvalid, "GET", "/v1/app/stream", "")
	}
	operator.ok(200, "HEAD", "/v1/app/stream", "")
	pass, id := enter(t, c, operator)
	one, two := openStream(t, pass, ""), openStream(t, operator, "")
	one.until("changed", `"tasks"`)
	two.until("changed", `"tasks"`)

	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","body":"to <all>"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","to_agent":"b","body":"to one"}`)
	one.until("message", `"body":"to <all>"`)
	one.until("message", `"body":"to one"`)
	two.until("message", `"body":"to one"`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"a","claim_key":"k"}`)
	one.until("changed", `"leases"`)
	left := two.until("changed", `"leases"`)
	two.end()

	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","kind":"task","body":"while you were away"}`)
	back := openStream(t, operator, left)
	back.until("message", `"body":"while you were away"`)
	one.until("changed", `"kinds":["tasks"`)

	operator.ok(200, "POST", "/v1/passes/"+id+"/end", "")
	one.until("error", `"operator_required"`)
	if one.body.Scan() {
		t.Errorf("the stream goes on with %q", one.body.Text())
	}
	back.until("changed", `"passes"`)
}
