package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// TestWatchOverHTTP: the answers and refusals of a watch, parked and at once.
func TestWatchOverHTTP(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/projects", `{"name":"p"}`)
	room, _ := c.ok(201, "POST", "/v1/rooms", `{"project":"p","name":"r"}`).row("room_id").(string)
	for _, agent := range []string{"a", "b"} {
		c.ok(201, "POST", "/v1/sessions", `{"agent_id":"`+agent+`"}`)
	}
	path := func(query string, until ...string) string {
		for _, u := range until {
			query += "&until=" + url.QueryEscape(u)
		}
		return "/v1/watch?room_id=" + room + "&" + query
	}
	if got := c.ok(200, "GET", path("agent_id=a&timeout=0", "message-from:b"), ""); got.row("met") != false {
		t.Errorf("nothing was said: %s", got.Result)
	}

	if got := c.ok(200, "GET", "/v1/watch?agent_id=a&timeout=0&until=for-me", ""); got.row("met") != false || got.row("room_id") != "" {
		t.Errorf("of no room: %s", got.Result)
	}
	c.refused(hub.CodeInvalid, "GET", "/v1/watch?agent_id=a&timeout=0&until=task-ready", "")
	c.ok(200, "GET", "/v1/watch?agent_id=a&timeout=0&until=task-ready:"+room, "")

	answers := make(chan answer, 2)
	wait := path("agent_id=a&timeout=1200&label=l", "message-from:b")
	go func() { answers <- c.call("GET", wait, "") }()
	waitParked(t, h, 1)
	go func() { answers <- c.call("GET", wait, "") }()
	if got := <-answers; got.Code != hub.CodeWatchReplaced {
		t.Errorf("of two watches of one label the first was answered %d %s", got.status, got.Code)
	}
	waitParked(t, h, 1)
	c.refused(hub.CodeWatchReplaced, "GET", wait+"&began=2020-01-02T03:04:05.678Z", "")
	posted := c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","channel":"room-`+room+`","body":"<hello>"}`).id()
	got := <-answers
	if got.row("met") != true || !strings.Contains(string(got.Result), fmt.Sprintf(`"id":%d,"ts":`, posted)) {
		t.Errorf("the watch that waited was answered %d %s", got.status, got.Result)
	}
	if got := c.ok(200, "HEAD", path("agent_id=a", "message-from:b"), ""); len(got.Result) != 0 {
		t.Errorf("HEAD was answered %q", got.Result)
	}

	if got := c.ok(200, "GET", path(fmt.Sprintf("agent_id=b&timeout=0&stream=1&after_id=%d", posted), "for-me", "task-ready"), ""); got.row("met") != false {
		t.Errorf("nothing is for b: %s", got.Result)
	}
	for _, refused := range []struct {
		code hub.Code
		path string
	}{
		{hub.CodeInvalid, path("agent_id=a&timeout=0")},
		{hub.CodeInvalid, path("timeout=0", "message-from:b")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0", "message-from:a")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0", "soon")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0", "tasks-complete:")},
		{hub.CodeInvalid, path("agent_id=a&timeout=-1", "message-from:b")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0&label="+strings.Repeat("x", 81), "message-from:b")},
		{hub.CodeInvalid, path("agent_id=a.watch&timeout=0", "message-from:b")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0", "seat-idle:operator")},
		{hub.CodeInvalid, path("agent_id=a&timeout=0&began=soon", "message-from:b")},
		{hub.CodeReservedAgent, path("agent_id=system&timeout=0", "message-from:b")},
		{hub.CodeRoomNotFound, "/v1/watch?room_id=r_zz&agent_id=a&until=message-from:b"},
		{hub.CodeTaskNotFound, path("agent_id=a", "tasks-complete:77")},
		{hub.CodeRunNotFound, path("agent_id=a", "run-complete:run_zz")},
		{hub.CodeMessageNotFound, path("agent_id=a", "answered:77")},
		{hub.CodeRoomNotFound, path("agent_id=a", "task-ready:r_zz")},
		{hub.CodeInvalid, path("agent_id=a&after_id=-1", "for-me")},
		{hub.CodeInvalid, path("agent_id=a&stream=perhaps", "for-me")},
		{hub.CodeSessionNotFound, path("agent_id=a", "message-from:nobody")},
		{hub.CodeSessionNotFound, path("agent_id=a", "seat-idle:nobody")},
	} {
		if refused.code == hub.CodeReservedAgent {
			refused.code = hub.CodeOperatorRequired // no agent may view as system
		}
		c.refused(refused.code, "GET", refused.path, "")
	}
	c.with(api.HeaderRelay, "b").refused(hub.CodeAgentMismatch, "GET", path("agent_id=a&timeout=0", "message-from:b"), "")
}
