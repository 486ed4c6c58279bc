package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// seatsOn returns the agents and their roles from the status page of a room.
func (c *client) seatsOn(room, query string) string {
	c.t.Helper()
	var page hub.RoomStatus
	require.NoError(c.t, json.Unmarshal(c.ok(200, "GET", "/v1/rooms/"+room+"/status"+query, "").Result, &page))
	out := []string{}
	for _, s := range page.Seats {
		out = append(out, strings.TrimSuffix(string(s.AgentID)+"/"+s.Role, "/"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// seen waits until these seats are on the page: a seat appears shortly after
// the act that it is made for.
func (c *client) seen(room, want string) {
	c.t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if got = c.seatsOn(room, ""); got == want {
			return
		}
	}
	c.t.Fatalf("on the page are %q, want %q", got, want)
}

// TestWhoWorksInARoomIsSeen: an agent that works in a room without having
// joined it has a seat there, whatever kind of work it does, also through a
// spool. It can join afterwards, which uses up the invite.
func TestWhoWorksInARoomIsSeen(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	room := fmt.Sprint(c.ok(201, "POST", "/v1/rooms", `{"project":"shop","name":"Till"}`).row("room_id"))
	c.seen(room, "")

	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"begins","metadata":{"harness":"codex"}}`)
	seat := c.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"begins"}`)
	if seat.row("role") != "" || seat.row("harness") != "codex" || seat.row("presence") != "live" || seat.row("room_id") != room {
		t.Errorf("the seat is %s", seat.Result)
	}
	if again := c.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"begins"}`); again.row("seat_id") != seat.row("seat_id") {
		t.Errorf("another call gives another seat: %s", again.Result)
	}
	c.seen(room, "begins")
	task := c.ok(201, "POST", "/v1/messages", `{"from_agent":"posts","channel":"room-`+room+`","kind":"task","body":"count"}`)
	c.ok(201, "POST", "/v1/claims", fmt.Sprintf(`{"owner_agent_id":"claims","task_message_id":%v}`, task.row("id")))
	c.ok(200, "GET", "/v1/watch?agent_id=watches&timeout=0&until=message-from:posts&room_id="+room, "")
	sandboxed := c.with("X-Hub-Relay", "relayed")
	sandboxed.ok(201, "POST", "/v1/messages", `{"from_agent":"relayed","channel":"room-`+room+`","body":"x"}`)
	c.ok(200, "GET", "/v1/events?agent_id=reads&timeout=0&room_id="+room, "")
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"whispers","to_agent":"posts","channel":"room-`+room+`","body":"x"}`)
	c.seen(room, "begins claims posts relayed watches")
	if all := c.seatsOn(room, "?all=1"); all != "begins claims posts relayed watches" {
		t.Errorf("all are %q", all)
	}

	code := c.ok(201, "POST", "/v1/invites", `{"project":"shop","room":"till","role":"cashier"}`).row("code")
	joined := c.ok(201, "POST", fmt.Sprintf("/v1/invites/%v/accept", code), `{"agent_id":"posts"}`)
	if joined.row("requested") != nil && joined.row("requested") != "" {
		t.Errorf("joined under another name: %s", joined.Result)
	}
	c.seen(room, "begins claims posts/cashier relayed watches")
	c.refused(hub.CodeInviteExhausted, "POST", fmt.Sprintf("/v1/invites/%v/accept", code), `{"agent_id":"claims"}`)

	c.refused(hub.CodeRoomNotFound, "POST", "/v1/rooms/r_0/seats", `{"agent_id":"begins"}`)
	c.refused(hub.CodeReservedAgent, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"begins.watch"}`)
	c.refused(hub.CodeReservedAgent, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"operator"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/rooms/"+room+"/seats", `{}`)
	c.refused(hub.CodeInvalid, "GET", "/v1/rooms/"+room+"/status?all=perhaps", "")
	sandboxed.refused(hub.CodeAgentMismatch, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"begins"}`)
	sandboxed.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{}`)
	keyed := c.with("Idempotency-Key", "k1")
	first := keyed.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"late"}`)
	second := keyed.ok(200, "POST", "/v1/rooms/"+room+"/seats", `{"agent_id":"late"}`)
	if second.row("seat_id") != first.row("seat_id") || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %s, %v", second.Result, second.header)
	}
}
