package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

func walkBudgets(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/budgets", `{"agent_id":"bea","chars":1000}`)
	for _, body := range []string{`{}`, `{"chars":1000}`, `{"agent_id":"bea","room_id":"r_1","chars":1000}`, `{"agent_id":"bea","chars":999}`, `{"agent_id":"bea","chars":10000001}`} {
		operator.refused(hub.CodeInvalid, "PUT", "/v1/budgets", body)
	}
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/budgets", `{"room_id":"r_999","chars":1000}`)
	operator.ok(200, "PUT", "/v1/budgets", `{"agent_id":"bea","chars":1000}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"milo","to_agent":"bea","body":"`+strings.Repeat("x", 2000)+`"}`)
	a := c.ok(200, "GET", "/v1/events?agent_id=bea&timeout=0&since_id=0", "")
	if !strings.Contains(string(a.Result), "[digest of 2000 characters") || !strings.Contains(string(a.Result), `"truncated":{"chars":2000,"fetch":"GET /v1/messages/`) {
		t.Errorf("the rows are %s", a.Result)
	}
	if a := c.ok(200, "GET", "/v1/budgets", ""); !strings.Contains(string(a.Result), `"agent_id":"bea"`) {
		t.Errorf("the budgets are %s", a.Result)
	}
	if a := operator.ok(200, "GET", "/v1/attention/ledger", ""); !strings.Contains(string(a.Result), `"spent":[{"agent_id":"bea","chars":`) {
		t.Errorf("the ledger is %s", a.Result)
	}
	operator.ok(200, "PUT", "/v1/budgets", `{"agent_id":"bea","chars":0}`)
}
