package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/mcp/wire"
)

// unreadAt is what the hub, asked by others, counts as unread of an agent.
func unreadAt(t *testing.T, r *rig, agent hub.AgentID, room hub.RoomID) hub.Attention {
	t.Helper()
	a, err := r.hub.Attention(context.Background(), hub.AttentionQuery{Agent: agent, Room: room})
	require.NoError(t, err)
	return a
}

// TestWhatWasReadIsNotUnread: right after a poll of everything no tool says that
// anything is unread, and what comes after it is unread everywhere.
func TestWhatWasReadIsNotUnread(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	say := func(body string) {
		me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: body})
		me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: body})
	}
	for i := range 4 {
		say(fmt.Sprint("n", i))
	}
	hears := func(when string, want, direct int) {
		t.Helper()
		var who aboutMe
		if me.must("hub_whoami", nil, &who); who.Unread != want || len(who.ForYou) != direct {
			t.Errorf("%s hub_whoami says %d unread and shows %v, want %d and %d", when, who.Unread, who.ForYou, want, direct)
		}
		var page pageOfRoom
		if me.must("hub_room_status", nil, &page); page.Unread != want {
			t.Errorf("%s hub_room_status says %d unread, want %d", when, page.Unread, want)
		}
		for _, s := range page.Seats {
			if s.AgentID == "me" && s.Unread != want {
				t.Errorf("%s the seat has %d unread, want %d", when, s.Unread, want)
			}
		}
	}
	hears("before the poll", 8, 4)
	var p polled
	if me.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); len(p.Messages) != 8 {
		t.Fatalf("the poll brings %v", bodies(p.Messages))
	}
	hears("right after the poll", 0, 0)
	say("later")
	hears("after the next message", 2, 1)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	if a := me.try("hub_join", args{"agent_id": "other"}); strings.Contains(text(a), "You left me") {
		t.Errorf("an agent that has read everything is told %s", text(a))
	}
}

// TestHubHearsWhatWasRead without another call of the agent, so that neither a hook
// nor a watch tells it once more.
func TestHubHearsWhatWasRead(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: "for you"})
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "in the room"})
	me.say(t, hub.PostInput{FromAgent: "you", Channel: "general", Body: "elsewhere"})
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	require.Eventually(t, "the hub does not hear what was read", func() bool {
		a := unreadAt(t, me, "me", room)
		return a.Unread == 0 && len(a.Directed) == 0
	})
	if a := unreadAt(t, me, "me", ""); a.Unread == 0 {
		t.Error("what is elsewhere, and was not polled, counts as seen")
	}
}

// TestHubHearsOfNoMoreThanWasRead: what a poll has left out stays unread, and so does
// what it has brought where something before that was left out.
func TestHubHearsOfNoMoreThanWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		ask    args
		skip   bool // since_id leaves out the first of the four
		unread int  // of the four
	}{
		"a cut poll":            {args{"limit": 3}, false, 1},
		"all from an id on":     {args{"since_id": 0}, false, 0},
		"not all from an id on": {args{"limit": 3}, true, 4},
		"a thread":              {args{"thread_id": "t"}, false, 4},
		"everything":            {args{}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			me := bridgeWith(t, testhub.Start(t), nil, func(b *bridge) { b.link.Feeds.AckDelay = wire.AckDelay / 4 })
			room := roomFor(t, me)
			c.ask["room_id"], c.ask["timeout_seconds"] = room, 0
			me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: "before"})
			me.must("hub_poll_messages", args{"room_id": room, "timeout_seconds": 0}, nil)
			for i := range 4 {
				id := me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: fmt.Sprint("n", i), ThreadID: "t"})
				if i == 0 && c.skip {
					c.ask["since_id"] = id
				}
			}
			me.must("hub_poll_messages", c.ask, nil)
			var page pageOfRoom
			me.must("hub_room_status", args{"room_id": room}, &page) // by then the hub has heard what it is to hear
			if a := unreadAt(t, me, "me", room); a.Unread != c.unread || page.Unread != c.unread {
				t.Errorf("%d unread, and by the page %d; want %d", a.Unread, page.Unread, c.unread)
			}
		})
	}
}

// TestCancelledAnswerStaysUnread: where a cancellation crosses the answer of a poll,
// the hub is never told that its rows were read.
func TestCancelledAnswerStaysUnread(t *testing.T) {
	h := testhub.Start(t)
	other := bridgeTo(t, h, func(c *Config) { c.Agent = "you" })
	call := func(id int, tool, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
	}
	spoken(t, h, func(say func(string), next func() spokenLine) {
		say(call(1, "hub_poll_messages", `{"timeout_seconds":0}`))
		next()
		other.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: "for you"})
		say(call(2, "hub_poll_messages", `{"timeout_seconds":0}`))
		if got := string(next().Result); !strings.Contains(got, "for you") {
			t.Errorf("the poll brings %s", got)
		}
		say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		say(call(3, "hub_whoami", `{}`))
		if got := string(next().Result); !strings.Contains(got, `"unread":1`) {
			t.Errorf("after the cancellation hub_whoami says %s", got)
		}
		time.Sleep(wire.AckDelay + wire.AckDelay/4) // whatever is going to be told has been told by then
		if a := unreadAt(t, other, "me", ""); a.Unread != 1 || len(a.Directed) != 1 {
			t.Errorf("what was cancelled counts as read: %+v", a)
		}
		say(call(4, "hub_poll_messages", `{"timeout_seconds":0}`))
		if got := string(next().Result); !strings.Contains(got, "for you") {
			t.Errorf("the next poll brings %s", got)
		}
	})
}
