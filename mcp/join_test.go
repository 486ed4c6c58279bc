package mcp

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

// What was said to an agent before it joins by a code, as it was or as a new one,
// is what it hears after that.
func TestJoinHearsItsBrief(t *testing.T) {
	for name, start := range map[string]hub.AgentID{"an agent that has read": "dev", "an id that nobody was": ""} {
		t.Run(name, func(t *testing.T) {
			h := testhub.Start(t)
			me := bridgeTo(t, h, func(c *Config) { c.Agent = start })
			me.must("hub_poll_messages", map[string]any{"timeout_seconds": 0}, nil)
			code := invite(t, me, "dev")
			post := func(in hub.PostInput) {
				t.Helper()
				if _, err := me.hub.Post(context.Background(), in); err != nil {
					t.Fatal(err)
				}
			}
			post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Body: "the brief"})
			post(hub.PostInput{FromAgent: "lead", Body: "to all"})
			var joined joinOut
			if me.must("hub_join", map[string]any{"code": code}, &joined); joined.AgentID != "dev" || joined.Requested != "" {
				t.Fatalf("joined as %+v", joined)
			}
			var now aboutMe
			if me.must("hub_whoami", nil, &now); now.Unread == 0 || len(now.ForYou) != 1 {
				t.Errorf("after the join: %+v", now)
			}
			if say := text(me.try("hub_poll_messages", map[string]any{"timeout_seconds": 0})); !strings.Contains(say, "the brief") {
				t.Errorf("after the join it hears %q", say)
			}
		})
	}
}

// A bridge stays the agent that it was started as, unless a join names another.
// A bridge that becomes another agent is told what stays with the old one.
func TestJoinKeepsWhoWasChosen(t *testing.T) {
	h := testhub.Start(t)
	env := func(c *Config) {
		c.Agent = ""
		c.Getenv = func(name string) string { return map[string]string{"HUB_AGENT": "named"}[name] }
	}
	for _, c := range []struct {
		what         string
		start        func(*Config)
		handle       hub.AgentID
		args         map[string]any
		want         hub.AgentID
		says, hidden string
	}{
		{"as the handle", func(c *Config) { c.Agent = "gg" }, "gg", nil, "gg", "You are gg", "taken"},
		{"without a handle", func(c *Config) { c.Agent = "reviewer" }, "", nil, "reviewer", "You are reviewer", "taken"},
		{"for another", func(c *Config) { c.Agent = "one" }, "other", nil, "one", "suggests the id other", "taken"},
		{"by the environment", env, "", nil, "named", "You are named", "taken"},
		{"by default", func(c *Config) { c.Agent = "" }, "guest", nil, "guest", "1 unread ones, 0 tasks and 1 claims stay with mcp-client", "taken"},
		{"asked for", func(c *Config) { c.Agent = "two" }, "else", map[string]any{"agent_id": "else"}, "else", "New messages for two come to you", "taken"},
		{"by a role", func(c *Config) { c.Agent = "" }, "", nil, "", "You are mcp-client", "taken"}, // the id that it had
	} {
		t.Run(c.what, func(t *testing.T) {
			me := bridgeTo(t, h, c.start)
			was, _ := whoamiLine(me)
			c.want = cmp.Or(c.want, was)
			me.must("hub_claim", map[string]any{"claim_key": "of-" + string(was)}, nil)
			if _, err := me.hub.Post(context.Background(), hub.PostInput{FromAgent: "lead", ToAgent: was, Body: "x"}); err != nil {
				t.Fatal(err)
			}
			if c.args == nil {
				c.args = map[string]any{}
			}
			c.args["code"] = inviteNamed(t, me, c.what, c.handle)
			res := me.try("hub_join", c.args)
			if say := text(res); res.IsError || !strings.Contains(say, c.says) || strings.Contains(say, c.hidden) || strings.Contains(mustJSON(t, res.Content[0]), "Room "+c.what) {
				t.Errorf("it says %q", say)
			}
			if id, _ := whoamiLine(me); id != c.want {
				t.Errorf("it is %s, want %s", id, c.want)
			}
			me.end()
		})
	}
}

// A message for the id that a bridge had before it joined comes to it, and its
// sender hears the new id.
func TestJoinIsFollowed(t *testing.T) {
	h := testhub.Start(t)
	lead := bridgeTo(t, h, func(c *Config) { c.Agent = "lead" })
	me := bridgeTo(t, h, func(c *Config) { c.Agent = "" })
	was, _ := whoamiLine(me)
	me.must("hub_join", map[string]any{"code": invite(t, me, "dev")}, nil)
	if say := text(lead.try("hub_dm", map[string]any{"to_agent": was, "body": "are you there?"})); !strings.Contains(say, string(was)+" goes on as dev") {
		t.Errorf("the sender hears %q", say)
	}
	if say := text(me.try("hub_poll_messages", map[string]any{"timeout_seconds": 0})); !strings.Contains(say, "are you there?") {
		t.Errorf("the agent hears %q", say)
	}
}

// A bridge that was displaced without knowing joins under a number rather than fail.
func TestJoinOfTheDisplaced(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	whoamiLine(me)
	code := invite(t, me, "me")
	if _, err := me.hub.Register(context.Background(), hub.RegisterInput{AgentID: "me"}); err != nil {
		t.Fatal(err)
	}
	var joined joinOut
	if me.must("hub_join", map[string]any{"code": code}, &joined); joined.AgentID != "me-2" || joined.Requested != "me" {
		t.Errorf("joined as %+v", joined)
	}
}

// The maker of a room is in it. An agent with a seat in one room only is in
// that room after a restart too.
func TestMakerOfARoomIsInIt(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeTo(t, h, nil)
	me.must("hub_create_project", map[string]any{"name": "Shop"}, nil)
	var made shownRoom
	res := me.try("hub_create_room", map[string]any{"project": "shop", "name": "Check-out"})
	if !strings.Contains(text(res), "You are in it now") {
		t.Errorf("it says %q", text(res))
	}
	var now aboutMe
	if me.must("hub_whoami", nil, &now); now.RoomID == "" || now.AgentID != "me" {
		t.Fatalf("after making a room: %+v", now)
	}
	made.RoomID = now.RoomID
	// A second room does not take it away.
	if say := text(me.try("hub_create_room", map[string]any{"project": "shop", "name": "Warehouse"})); !strings.Contains(say, "You stay in "+string(made.RoomID)) {
		t.Errorf("of a second room it says %q", say)
	}
	me.end()
	again := bridgeTo(t, h, nil)
	if again.must("hub_whoami", nil, &now); now.RoomID != made.RoomID || now.Channel != made.RoomID.Channel() {
		t.Errorf("after a restart: %+v", now)
	}
}
