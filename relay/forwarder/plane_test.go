package forwarder

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/api"
	"hubcli/hub"
)

// TestPlaneIsTheTables: a relay carries exactly the operations that the table
// allows, and the table refuses the calls that must never pass through a spool.
func TestPlaneIsTheTables(t *testing.T) {
	carried := 0
	for _, op := range api.Operations() {
		_, err := operationOf(op.Method, op.PathFor("7"))
		if (err == nil) != (op.NotRelayed == "") {
			t.Errorf("%s: a relay answers %v; NotRelayed of its row in api/operations.go is %q", op.ID, err, op.NotRelayed)
		}
		if op.NotRelayed == "" {
			carried++
		}
		// The spool proves no operator, and no path of the hub's machine leaves a sandbox.
		outside := op.Plane == api.PlaneOperator || strings.HasPrefix(op.Path, "/v1/spawn") || strings.HasSuffix(op.Path, "/binding")
		if outside && op.NotRelayed == "" {
			t.Errorf("%s: a relay must not carry it: set NotRelayed of its row in api/operations.go", op.ID)
		}
	}
	if carried < 60 {
		t.Errorf("only %d operations are relayed", carried)
	}
}

func TestPlane(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/v1/hub-info", true},
		{"POST", "/v1/hub-info", false},
		{"GET", "/v1/events?agent_id=a", true},
		{"GET", "/v1/stream?agent_id=a", false},
		{"GET", "/v1/threads/a/b/c", true},
		{"GET", "/v1/threads/a%2Fb", true},
		{"GET", "/v1/threads//a", true},
		{"GET", "/v1/threads/", false},
		{"GET", "/v1/threads", true},
		{"POST", "/v1/threads/a", false},
		{"GET", "/v1/projects/p", true},
		{"GET", "/v1/projects/p/export", false},
		{"GET", "/v1/projects/p%2Fexport", false},
		{"GET", "/v1/projects/p%2fexport?x=1", false},
		{"POST", "/v1/%73hutdown", false},
		{"POST", "/v1/shutdown", false},
		{"POST", "/v1/messages/", false},
		{"POST", "/v1/spawn", false},
		{"GET", "/v1/spawn/policy", false},
		{"POST", "/v1/spawn/sp_1/stop", false},
		{"POST", "/v1/tasks/7/handoff", true},
		{"PUT", "/v1/rooms/r/binding", false},
		{"DELETE", "/v1/rooms/r/binding", false},
		{"GET", "/v1/resolve?path=%2Fhome", true},
		{"PUT", "/v1/tool-surface", false},
		{"GET", "/v1/app/status", false},
		{"GET", "/v1/providers", false},
		{"POST", "/v1/invites/ABCD-EFGH/accept", true},
	} {
		if _, err := operationOf(c.method, c.path); (err == nil) != c.want {
			t.Errorf("%s %s: %v", c.method, c.path, err)
		} else if err != nil && (err.Code != hub.CodeNotRelayed || err.Fix == "") {
			t.Errorf("%s %s: %+v", c.method, c.path, err)
		}
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/hub-info":                             true,
		"/v1/events?agent_id=a&since_id=4":         true,
		"/v1/search?q=a%20b%0A//..":                true,
		"/v1/inbox/a:b@c+d":                        true,
		"/v1/threads/%C3%A4":                       true,
		"/v1/threads/" + strings.Repeat("x", 8000): true,
		"/v1/threads/" + strings.Repeat("x", 8200): false,
		"":                           false,
		"/":                          false,
		"/v1":                        false,
		"/v2/hub-info":               false,
		"/healthz":                   false,
		"v1/hub-info":                false,
		"//v1/hub-info":              false,
		"http://127.0.0.1/v1/x":      false,
		"/v1/../metrics":             false,
		"/v1/%2e%2e/metrics":         false,
		"/v1/.%2E/metrics":           false,
		"/v1/./x":                    false,
		"/v1//x":                     false,
		"/v1/x/":                     false,
		"/v1/x%2F%2Fy":               false,
		"/v1/x%2f..%2fy":             false,
		"/v1/x#y":                    false,
		`/v1/x\y`:                    false,
		"/v1/x y":                    false,
		"/v1/ä":                      false,
		"/v1/x%00":                   false,
		"/v1/x%0d%0aHost:%20y":       false,
		"/v1/x%":                     false,
		"/v1/x%zz":                   false,
		"/v1/x?q=%zz":                false,
		"/v1/x\r\nHost: y":           false,
		"/v1/x HTTP/1.1\r\nX-A: b\r": false,
	} {
		if err := checkPath(path); (err == nil) != want {
			t.Errorf("%.60q: %v", path, err)
		}
	}
}

func TestWaitsAreCapped(t *testing.T) {
	const most = 25 * time.Second
	for _, c := range []struct {
		method, path, body string
		want               string // path
		wait               time.Duration
	}{
		{"GET", "/v1/events?agent_id=a&timeout=60&x=%41", "", "/v1/events?agent_id=a&timeout=25&x=%41", most},
		{"GET", "/v1/events?agent_id=a", "", "/v1/events?agent_id=a&timeout=25", most},
		{"GET", "/v1/events", "", "/v1/events?timeout=25", most},
		{"GET", "/v1/events?timeout=0", "", "/v1/events?timeout=0", 0},
		{"GET", "/v1/events?timeout=0.5", "", "/v1/events?timeout=0.5", 500 * time.Millisecond},
		{"GET", "/v1/events?%74imeout=1e3", "", "/v1/events?timeout=25", most},
		{"GET", "/v1/events?timeout=1e999", "", "/v1/events?timeout=25", most},
		{"GET", "/v1/events?timeout=x", "", "/v1/events?timeout=x", 30 * time.Second},
		{"GET", "/v1/messages?channel=c", "", "/v1/messages?channel=c", 0},
		{"GET", "/v1/messages?channel=c&timeout=99", "", "/v1/messages?channel=c&timeout=25", most},
		{"GET", "/v1/watch?until=x", "", "/v1/watch?until=x&timeout=25", most},
		{"GET", "/v1/agents?timeout=99", "", "/v1/agents?timeout=99", 0},
		{"POST", "/v1/claims", `{"a":"<\u00e4>", "wait_sec" : 60 ,"b":[1.50]}`, "/v1/claims", most},
		{"POST", "/v1/locks", `{"wait_sec":3}`, "/v1/locks", 3 * time.Second},
		{"POST", "/v1/locks", `{"metadata":{"wait_sec":99}}`, "/v1/locks", 0},
		{"POST", "/v1/locks", `{"wait_sec":null}`, "/v1/locks", 0},
		{"POST", "/v1/locks", `{"wait_sec":"99"}`, "/v1/locks", 0},
		{"POST", "/v1/locks", "", "/v1/locks", 0},
		{"POST", "/v1/messages", `{"wait_sec":99}`, "/v1/messages", 0},
	} {
		op, refusal := operationOf(c.method, c.path)
		if refusal != nil {
			t.Fatal(refusal)
		}
		path, wait := capWait(op, c.path, []byte(c.body), most)
		if path != c.want || wait != c.wait {
			t.Errorf("%s %s %s: %s %s, want %s %s", c.method, c.path, c.body, path, wait, c.want, c.wait)
		}
	}
}

// TestCappingChangesNothingElse: capping keeps all other parameters, and the
// wait is within the bound.
func TestCappingChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := time.Duration(rapid.IntRange(0, 60).Draw(t, "most")) * time.Second
		query := url.Values{}
		for name, value := range rapid.MapOf(rapid.StringMatching(`[a-z_%+ä]{1,8}`), rapid.String()).Draw(t, "query") {
			query.Set(name, value)
		}
		asked := rapid.IntRange(0, 1000).Draw(t, "wait")
		query.Set("timeout", decimal(time.Duration(asked)*time.Second))
		events, _ := operationOf("GET", "/v1/events")
		path, wait := capWait(events, "/v1/events?"+query.Encode(), nil, most)
		got, err := url.ParseQuery(strings.TrimPrefix(path, "/v1/events?"))
		if err != nil || wait > most || got.Get("timeout") != decimal(min(most, time.Duration(asked)*time.Second)) {
			t.Fatalf("%s, wait %s, %v", path, wait, err)
		}
		query.Del("timeout")
		got.Del("timeout")
		if got.Encode() != query.Encode() {
			t.Fatalf("other parameters have changed: %s, were %s", got.Encode(), query.Encode())
		}
	})
}
