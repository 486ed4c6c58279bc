package httpapi_test

import (
	"fmt"
	"strings"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// walkGuard has two agents thank each other until the hub stops them: directly after the
// default number of turns, in a room after as many as the operator wants.
func walkGuard(c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := newRoom(c, "guarded", "Guarded")
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/attention/ledger", "")
	if a := operator.ok(200, "GET", "/v1/attention/ledger", ""); !strings.Contains(string(a.Result), `"path":"poll"`) {
		c.t.Errorf("the ledger is %s", a.Result)
	}
	path := "/v1/rooms/" + room + "/guard"
	c.refused(hub.CodeOperatorRequired, "PUT", path, `{"hops":4}`)
	for _, hops := range []string{"3", "-1", "1001"} {
		operator.refused(hub.CodeInvalid, "PUT", path, `{"hops":`+hops+`}`)
	}
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_zz/guard", `{"hops":4}`)
	if a := operator.ok(200, "PUT", path, `{"hops":4}`); fmt.Sprint(a.row("guard_hops")) != "4" {
		c.t.Errorf("the room is %s", a.Result)
	}

	thanks := func(i int, to string) string {
		return fmt.Sprintf(`{"from_agent":"%s",%s,"body":"Thank you!"}`, []string{"ann", "ben"}[i%2], to)
	}
	for i := range 4 {
		c.ok(201, "POST", "/v1/messages", thanks(i, `"channel":"room-`+room+`"`))
	}
	c.refused(hub.CodeLoopStopped, "POST", "/v1/messages", thanks(4, `"channel":"room-`+room+`"`))
	pair := []string{"cleo", "dirk"}
	directly := func(i int) string {
		return fmt.Sprintf(`{"from_agent":%q,"to_agent":%q,"body":"Thank you!"}`, pair[i%2], pair[(i+1)%2])
	}
	for i := range 8 {
		c.ok(201, "POST", "/v1/messages", directly(i))
	}
	if a := c.refused(hub.CodeSlowed, "POST", "/v1/messages", directly(8)); a.header.Get("Retry-After") == "" {
		c.t.Error("a slowed post is not told how long to wait")
	}
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"cid","to_agent":"cleo","body":"What about lunch?"}`)
	c.ok(201, "POST", "/v1/messages", directly(8))
	if a := operator.ok(200, "PUT", path, `{"hops":0}`); fmt.Sprint(a.row("guard_hops")) != "0" {
		c.t.Errorf("the room is %s", a.Result)
	}
	if a := operator.ok(200, "PUT", path, `{"hops":null}`); a.row("guard_hops") != nil {
		c.t.Errorf("the room is %s", a.Result)
	}
}
