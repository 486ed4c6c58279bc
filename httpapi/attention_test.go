package httpapi_test

import (
	"fmt"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// TestAttentionOverHTTP: a poll marks messages as seen and a peek does not. Of
// two calls that set the same notified cursor, one has moved it.
func TestAttentionOverHTTP(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	unread := func() any { return c.ok(200, "GET", "/v1/attention?agent_id=a", "").row("unread") }
	first := c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","body":"hey @a"}`).id()
	last := c.ok(201, "POST", "/v1/messages", `{"from_agent":"b","to_agent":"a","body":"x"}`).id()
	for _, path := range []string{"/v1/inbox/a", "/v1/events?agent_id=a&timeout=0", "/v1/stream?agent_id=a&since_id=0"} {
		c.ok(200, "HEAD", path, "")
		if got := unread(); got != 2.0 {
			t.Errorf("after HEAD %s: %v unread, want 2", path, got)
		}
	}
	for _, step := range []struct {
		path string
		want float64
	}{
		{"/v1/events?agent_id=a&timeout=0&peek=true&since_id=%d", 2},
		{"/v1/inbox/a?peek=1&since_id=%d", 2},
		{"/v1/inbox/a?since_id=%d", 1},
		{"/v1/events?agent_id=a&timeout=0&since_id=%d", 0},
	} {
		c.ok(200, "GET", fmt.Sprintf(step.path, last), "")
		if got := unread(); got != step.want {
			t.Errorf("after %s: %v unread, want %v", step.path, got, step.want)
		}
	}
	for i, want := range []bool{true, false} {
		if got := c.ok(200, "POST", "/v1/attention", fmt.Sprintf(`{"agent_id":"a","told_id":%d}`, first)).row("moved"); got != want {
			t.Errorf("call %d has moved the mark: %v", i+1, got)
		}
	}
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"a"}`)
	for turn, body := range map[string]string{"working": `"working"`, "at_prompt": `"at_prompt","tool":"Bash"`, "idle": `"idle"`, "stuck": `"stuck","error":"rate_limit"`} {
		if got := c.ok(200, "POST", "/v1/turns", `{"agent_id":"a","turn":`+body+`}`).row("noted"); got != true {
			t.Errorf("noted is %v", got)
		}
		if got := c.ok(200, "GET", "/v1/attention?agent_id=a", "").row("turn"); got != turn {
			t.Errorf("turn is %v, want %v", got, turn)
		}
	}
	for _, bad := range []string{`""`, `"done"`, `"idle","tool":"Bash"`, `"idle","error":"x"`, `"stuck","tool":"Bash"`, `"stuck","error":"a b"`, `null`, `1`} {
		c.refused("invalid", "POST", "/v1/turns", `{"agent_id":"a","turn":`+bad+`}`)
	}
	if got := c.ok(200, "POST", "/v1/turns", `{"agent_id":"nobody","turn":"idle"}`).row("noted"); got != false {
		t.Errorf("of an agent that is not there noted is %v", got)
	}
	c.refused(hub.CodeInvalid, "GET", "/v1/attention", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/attention?agent_id=a&room_id=r_zzz", "")
	c.refused(hub.CodeInvalid, "POST", "/v1/attention", `{"agent_id":"a"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/attention", `{"agent_id":"a","told_id":-1}`)
	c.refused(hub.CodeReservedAgent, "POST", "/v1/attention", `{"agent_id":"system","told_id":1}`)
	c.with(api.HeaderRelay, "b").refused(hub.CodeAgentMismatch, "GET", "/v1/attention?agent_id=a", "")
}
