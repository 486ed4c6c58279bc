package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// walkAddresses names agents that never registered: the wire takes them, and refuses them where the
// caller asks for that and an id like it is known. Mail to such an id is the operator's to see.
func walkAddresses(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"quentin"}`)
	for path, body := range map[string]string{
		"/v1/messages": `{"from_agent":"milo","to_agent":"quentim","body":"hello","unless_near":true}`,
		"/v1/mutes":    `{"agent_id":"quentim","unless_near":true}`,
		"/v1/pauses":   `{"agent_id":"quentim","words":"x","unless_near":true}`,
		"/v1/runs":     `{"title":"r","created_by":"milo","unless_near":true,"tasks":[{"title":"a","assignee":"quentim"}]}`,
	} {
		if a := operator.refused(hub.CodeAgentUnclear, "POST", path, body); a.Detail["did_you_mean"] != "quentin" {
			t.Errorf("%s: the refusal says %v", path, a.Detail)
		}
	}
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"milo","to_agent":"quentim","body":"hello"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"milo","to_agent":"zacharias-17","body":"hello","unless_near":true}`)
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/undelivered", "")
	if a := operator.ok(200, "GET", "/v1/undelivered", ""); !strings.Contains(string(a.Result), `"to_agent":"quentim"`) {
		t.Errorf("undelivered is %s", a.Result)
	}
}
