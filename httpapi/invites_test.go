package httpapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

func walkInvites(t *testing.T, c *client) {
	room := newRoom(c, "Joining", "Hall")
	invite := func(rest string) (code, id string) {
		t.Helper()
		a := c.ok(201, "POST", "/v1/invites", `{"project":"joining","room":"hall"`+rest+`}`)
		return fmt.Sprint(a.row("code")), fmt.Sprint(a.row("invite_id"))
	}
	code, id := invite(`,"role":"Code reviewer","harness":"generic","max_uses":2,"by":"dev"`)
	typed := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(code, "-", ""), "0", "o"), "1", "l"))
	for _, form := range []string{code, typed} {
		p := c.ok(200, "GET", "/v1/invites/"+form, "")
		if !strings.Contains(string(p.Result), `"room_id":"`+room+`"`) || strings.Contains(string(p.Result), code) {
			t.Errorf("the preview of %s is %s", form, p.Result)
		}
	}
	joined := c.ok(201, "POST", "/v1/invites/"+typed+"/accept", "")
	seat, _ := joined.row("seat").(map[string]any)
	session, _ := joined.row("session").(map[string]any)
	if seat["agent_id"] != "Code-reviewer" || seat["role"] != "Code reviewer" || seat["harness"] != "generic" || !strings.Contains(fmt.Sprint(session["session_id"]), ".") {
		t.Errorf("joined as %s", joined.Result)
	}
	if boot, _ := joined.row("bootstrap").(map[string]any); boot["room_id"] != room {
		t.Errorf("bootstrap names the room %v", boot["room_id"])
	}
	again := c.ok(201, "POST", "/v1/invites/"+code+"/accept", `{"display_name":"Second","capabilities":["x"],"harness":"other"}`)
	if got := fmt.Sprintf("%v for %v", again.row("seat").(map[string]any)["agent_id"], again.row("requested")); got != "Code-reviewer-2 for Code-reviewer" {
		t.Errorf("the second was named %s", got)
	}
	c.refused(hub.CodeInviteExhausted, "POST", "/v1/invites/"+code+"/accept", `{"agent_id":"third"}`)
	same := c.ok(201, "POST", "/v1/invites/"+code+"/accept", `{"agent_id":"Code-reviewer"}`)
	if same.row("live") != true || again.row("live") != false {
		t.Errorf("live already is told as %v of a live agent, %v of a new one", same.row("live"), again.row("live"))
	}
	if row, _ := same.row("session").(map[string]any); strings.Contains(fmt.Sprint(row["session_id"]), ".") || same.row("resume_key") != nil {
		t.Errorf("a stranger was shown the secrets of a live agent: %s", same.Result)
	}
	proved := c.with("X-Hub-Session", fmt.Sprint(session["session_id"])).ok(201, "POST", "/v1/invites/"+code+"/accept", "")
	if row, _ := proved.row("session").(map[string]any); row["session_id"] != session["session_id"] || proved.row("resume_key") != joined.row("resume_key") {
		t.Errorf("who has proved itself got %s", proved.Result)
	}
	revoked, revokedID := invite("")
	c.ok(200, "POST", "/v1/invites/"+revoked+"/revoke", "")
	if a := c.ok(200, "POST", "/v1/invites/"+revokedID+"/revoke", ""); a.row("state") != "revoked" {
		t.Errorf("revoked again: %s", a.Result)
	}
	if a := c.ok(200, "POST", "/v1/invites/"+id+"/revoke", ""); a.row("state") != "exhausted" {
		t.Errorf("an exhausted invite was revoked: %s", a.Result)
	}
	c.refused(hub.CodeInviteRevoked, "POST", "/v1/invites/"+revoked+"/accept", "")
	c.refused(hub.CodeInviteNotFound, "POST", "/v1/invites/i_zz/revoke", "")
	c.refused(hub.CodeInviteNotFound, "GET", "/v1/invites/AAAA-AAAA", "")
	for _, name := range []string{"system", "x.watch"} {
		c.refused(hub.CodeReservedAgent, "POST", "/v1/invites/"+code+"/accept", fmt.Sprintf(`{"agent_id":%q}`, name))
		c.refused(hub.CodeReservedAgent, "POST", "/v1/invites", fmt.Sprintf(`{"project":"joining","room":"hall","handle":%q}`, name))
	}
	for _, bad := range []string{`,"max_uses":1001`, `,"ttl_sec":2592001`, `,"max_uses":-1`, `,"role":"\u0007"`} {
		c.refused(hub.CodeInvalid, "POST", "/v1/invites", `{"project":"joining","room":"hall"`+bad+`}`)
	}
	c.refused(hub.CodeProjectNotFound, "POST", "/v1/invites", `{"project":"none","room":"hall"}`)
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/invites", `{"project":"joining","room":"none"}`)
	for query, want := range map[string]int{"": 2, "?project=joining": 2, "?room=" + room: 2, "?project=joining&room=hall&state=revoked": 1, "?state=active": 0, "?limit=1": 1} {
		got := c.ok(200, "GET", "/v1/invites"+query, "")
		if got.rows() != want || strings.Contains(string(got.Result), `"code"`) {
			t.Errorf("invites%s: %s, want %d", query, got.Result, want)
		}
	}
	c.refused(hub.CodeInvalid, "GET", "/v1/invites?state=over", "")
	said := c.ok(200, "GET", "/v1/messages?channel=room-"+room, "")
	if !strings.Contains(string(said.Result), `"body":"Code-reviewer-2 joined as \"Code reviewer\""`) {
		t.Errorf("the channel says %s", said.Result)
	}
}

// TestWrongCodes: ten wrong codes may come at once, then one a second. Right
// codes cost nothing, and wrong codes do not delay callers from other
// addresses.
func TestWrongCodes(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	newRoom(c, "P", "R")
	code := fmt.Sprint(c.ok(201, "POST", "/v1/invites", `{"project":"p","room":"r","max_uses":100}`).row("code"))
	for range 30 {
		c.ok(200, "GET", "/v1/invites/"+code, "")
	}
	for i := range 10 {
		c.refused(hub.CodeInviteNotFound, "GET", fmt.Sprintf("/v1/invites/AAAA-AAA%d", i), "")
	}
	slowed := c.refused(hub.CodeTooManyAttempts, "GET", "/v1/invites/"+code, "")
	if slowed.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.refused(hub.CodeTooManyAttempts, "POST", "/v1/invites/AAAA-AAAA/revoke", "")
	c.refused(hub.CodeTooManyAttempts, "POST", "/v1/invites/"+code+"/accept", "")
	c.with("X-Hub-Relay", "mine").ok(201, "POST", "/v1/invites/"+code+"/accept", "")
}

// TestInviteLimits: an invite expires, and a room has a limited number of
// active invites.
func TestInviteLimits(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	newRoom(c, "P", "R")
	code := fmt.Sprint(c.ok(201, "POST", "/v1/invites", `{"project":"p","room":"r","ttl_sec":1}`).row("code"))
	require.Eventually(t, "the end of the invite", func() bool {
		return strings.Contains(string(c.ok(200, "GET", "/v1/invites/"+code, "").Result), `"state":"expired"`)
	})
	c.refused(hub.CodeInviteExpired, "POST", "/v1/invites/"+code+"/accept", "")
	if n := c.ok(200, "GET", "/v1/invites?state=expired", "").rows(); n != 1 {
		t.Errorf("%d invites are expired", n)
	}
	var wg sync.WaitGroup
	for worker := range 20 {
		wg.Go(func() {
			for range hub.MaxRoomInvites / 20 {
				c.call("POST", "/v1/invites", fmt.Sprintf(`{"project":"p","room":"r","by":"w%d"}`, worker))
			}
		})
	}
	wg.Wait()
	c.refused(hub.CodeRoomFull, "POST", "/v1/invites", `{"project":"p","room":"r"}`)
	if n := c.ok(200, "GET", "/v1/invites?state=active&limit=1000", "").rows(); n != hub.MaxRoomInvites/2 {
		t.Errorf("%d invites are active, and half of the places are for callers that the hub does not know", n)
	}
}
