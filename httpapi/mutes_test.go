package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

func walkMutes(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/mutes", `{"agent_id":"milo"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/mutes/end", `{"agent_id":"milo"}`)
	for _, body := range []string{
		`{}`, `{"agent_id":"milo","for_sec":-1}`, `{"agent_id":"milo","for_sec":2592001}`,
		`{"agent_id":"milo","reason":"` + strings.Repeat("x", hub.MaxPauseWords+1) + `"}`,
	} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/mutes", body)
	}
	operator.refused(hub.CodeRoomNotFound, "POST", "/v1/mutes", `{"agent_id":"milo","room_id":"r_999"}`)
	operator.refused(hub.CodeNotMuted, "POST", "/v1/mutes/end", `{"agent_id":"milo"}`)

	operator.ok(200, "POST", "/v1/mutes", `{"agent_id":"milo","reason":"too loud","for_sec":60}`)
	a := c.ok(201, "POST", "/v1/messages", `{"from_agent":"milo","to_agent":"nina","body":"hello"}`)
	if a.Muted == nil || a.Muted.Reason != "too loud" || a.Muted.Until == nil || a.Muted.RoomID != nil {
		t.Errorf("the answer to a muted agent says %+v", a.Muted)
	}
	if a := operator.ok(201, "POST", "/v1/messages", `{"to_agent":"nina","body":"hello"}`); a.Muted != nil {
		t.Errorf("the operator is muted: %+v", a.Muted)
	}
	if a := c.ok(200, "GET", "/v1/mutes", ""); !strings.Contains(string(a.Result), `"agent_id":"milo"`) {
		t.Errorf("the mutes are %s", a.Result)
	}
	if a := c.ok(200, "GET", "/v1/app/status", ""); !strings.Contains(string(a.Result), `"reason":"too loud"`) {
		t.Errorf("the status is %s", a.Result)
	}
	operator.ok(200, "POST", "/v1/mutes/end", `{"agent_id":"milo"}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/mutes/end", `{}`)
	operator.refused(hub.CodeNotMuted, "POST", "/v1/mutes/end", `{"room_id":"r_999"}`)
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/loops", "")
	operator.ok(200, "GET", "/v1/loops", "")
	if a := c.ok(201, "POST", "/v1/messages", `{"from_agent":"milo","body":"hello"}`); a.Muted != nil {
		t.Errorf("the answer says %+v after the mute", a.Muted)
	}
}
