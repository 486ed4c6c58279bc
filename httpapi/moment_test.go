package httpapi_test

import (
	"fmt"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

// TestMomentOfARoom: any agent asks what a room was like after a record and at a time.
func TestMomentOfARoom(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	room := fmt.Sprint(c.ok(201, "POST", "/v1/rooms", `{"project":"shop","name":"Till"}`).row("room_id"))
	at := "/v1/rooms/" + room + "/at"
	empty := c.ok(200, "GET", at, "")
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"ann","channel":"room-`+room+`","kind":"task","body":"count"}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"ann","claim_key":"task-1"}`)
	c.ok(201, "POST", "/v1/decisions", `{"room_id":"`+room+`","title":"use Go","by":"ann"}`)
	c.ok(201, "POST", "/v1/artifacts", `{"room_id":"`+room+`","title":"plan","kind":"doc","by":"ann","body":"x"}`)
	c.ok(201, "POST", "/v1/memory", `{"room_id":"`+room+`","scope":"room","text":"remember","by":"ann"}`)
	c.ok(201, "POST", "/v1/runs", `{"room_id":"`+room+`","title":"run","created_by":"ann"}`)
	c.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"ann"}`)
	now := c.ok(200, "GET", at+"?limit=10", "")
	for _, list := range []string{"messages", "tasks", "claims", "decisions", "artifacts", "memories", "runs", "seats"} {
		if rows, _ := now.row(list).([]any); len(rows) == 0 {
			t.Errorf("%s are empty: %s", list, now.Result)
		}
		then := c.ok(200, "GET", fmt.Sprintf("%s?seq=%v", at, empty.row("seq")), "")
		if rows, _ := then.row(list).([]any); len(rows) != 0 || then.row("next_ts") == nil {
			t.Errorf("%s are there before: %s", list, then.Result)
		}
	}
	early := c.ok(200, "GET", at+"?ts=2020-01-01T00:00:00Z", "")
	if early.row("kept") != false || early.row("latest_id") != 0.0 {
		t.Errorf("before the hub: %s", early.Result)
	}
	c.refused(hub.CodeInvalid, "GET", at+"?seq=1&ts=2020-01-01T00:00:00Z", "")
	c.refused(hub.CodeInvalid, "GET", at+"?since_id=1&before_id=1", "")
	c.refused(hub.CodeInvalid, "GET", at+"?seq=999999", "")
	c.refused(hub.CodeInvalid, "GET", at+"?ts=yesterday", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/r_zz/at", "")
}
