package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// say posts as somebody else.
func (r *rig) say(t *testing.T, in hub.PostInput) hub.MessageID {
	t.Helper()
	out, err := r.hub.Post(context.Background(), in)
	require.NoError(t, err)
	row, err := out.Row.Decode()
	require.NoError(t, err)
	return row.ID
}

func bodies(list []shownMessage) (out []string) {
	for _, m := range list {
		out = append(out, string(m.Body))
	}
	return out
}

// TestPollGoesOn: polls without since_id return every message once, in order,
// however many there are; one that looks back takes nothing away.
func TestPollGoesOn(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	var want, got []string
	for i := range 45 {
		body := fmt.Sprint("n", i)
		in := hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: body}
		if i%5 == 0 {
			in.ToAgent = "me"
		}
		me.say(t, in)
		want = append(want, body)
	}
	for more := true; more; {
		var p, back polled
		me.must("hub_poll_messages", args{"timeout_seconds": 0, "limit": 10}, &p)
		got = append(got, bodies(p.Messages)...)
		me.must("hub_poll_messages", args{"timeout_seconds": 0, "since_id": 0, "limit": 3}, &back)
		if more = p.Truncated; len(p.Messages) > 10 || len(back.Messages) != 3 {
			t.Errorf("%d and %d messages, want at most 10 and 3", len(p.Messages), len(back.Messages))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the polls bring %v, want %v", got, want)
	}
	var p polled
	me.must("hub_post_message", args{"body": "my own"}, nil)
	if me.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); len(p.Messages) != 0 || !p.TimedOut || p.Cursor == 0 {
		t.Errorf("with nothing new: %+v", p)
	}
}

// TestPollOfAThread: a poll of a thread brings its messages alone, and takes none
// of them away from the feed of the room.
func TestPollOfAThread(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "within", ThreadID: "t"})
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "beside"})
	var p polled
	if me.must("hub_poll_messages", args{"timeout_seconds": 0, "thread_id": "t"}, &p); !slices.Equal(bodies(p.Messages), []string{"within"}) {
		t.Errorf("the thread has %v", bodies(p.Messages))
	}
	if me.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"within", "beside"}) {
		t.Errorf("the room has %v", bodies(p.Messages))
	}
}

// TestPollAfterTheBridgeDied: what was returned by the last poll of a bridge that
// died at once comes again to the next bridge of the agent, and what came in between
// too; what was returned some time before does not.
func TestPollAfterTheBridgeDied(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	first := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, first, dir)
	first.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	post := func(r *rig, body string) {
		r.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: body})
	}
	post(first, "seen")
	first.must("hub_poll_messages", nil, nil)
	first.must("hub_whoami", nil, nil) // by then the hub knows that this was read
	first.end()
	// However slow this machine is, this one dies at once.
	dies := bridgeWith(t, h, in(dir, "me"), func(b *bridge) { b.link.Feeds.AckDelay = time.Hour })
	post(dies, "returned")
	var p polled
	if dies.must("hub_poll_messages", nil, &p); !slices.Equal(bodies(p.Messages), []string{"returned"}) {
		t.Errorf("behind what was read there is %v", bodies(p.Messages))
	}
	dies.end()
	second := bridgeTo(t, h, in(dir, "me"))
	post(second, "between")
	if second.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"returned", "between"}) {
		t.Errorf("the next bridge hears %v, want returned and between", bodies(p.Messages))
	}
}

// TestNewAgentBegins: an agent without a cursor begins with the first message
// addressed to it, else with new messages.
func TestNewAgentBegins(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "long ago"})
	fresh := bridgeTo(t, h, in(dir, "fresh"))
	var p polled
	if fresh.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); len(p.Messages) != 0 {
		t.Errorf("a new agent hears %v", bodies(p.Messages))
	}
	me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "asked", Body: "for you"})
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "after"})
	asked := bridgeTo(t, h, in(dir, "asked"))
	if asked.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"for you", "after"}) {
		t.Errorf("who was written to before hears %v", bodies(p.Messages))
	}
}

// TestSinceIDTakesNothingAway: a poll from a given id neither moves the bridge's
// cursor past what it returned nor tells the hub that anything was seen; an id that
// no message has yet is refused.
func TestSinceIDTakesNothingAway(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	// However slow this machine is, the hub is not told in time which rows were
	// returned.
	me := bridgeWith(t, h, in(dir, "me"), func(b *bridge) { b.link.Feeds.AckDelay = time.Hour })
	bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	ask := func(body string) hub.MessageID {
		return me.say(t, hub.PostInput{FromAgent: "you", ToAgent: "me", Kind: hub.KindTaskRequest, Body: body})
	}
	ask("one")
	two := ask("two")
	if say := me.refused("hub_poll_messages", args{"timeout_seconds": 0, "since_id": 5000}); !strings.Contains(say, fmt.Sprintf("the latest is %d", two)) || !strings.Contains(say, "leave out since_id") {
		t.Errorf("an id beyond the latest says %q", say)
	}
	me.must("hub_poll_messages", args{"timeout_seconds": 0, "since_id": two}, nil)
	ask("three")
	hears := func(name string, r *rig) {
		var p polled
		if r.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"one", "two", "three"}) {
			t.Errorf("%s hears %v, want one, two and three", name, bodies(p.Messages))
		}
		if r.must("hub_poll_messages", args{"timeout_seconds": 0, "since_id": two}, &p); !slices.Equal(bodies(p.Messages), []string{"three"}) {
			t.Errorf("from two on %s hears %v, want three", name, bodies(p.Messages))
		}
	}
	hears("the bridge", me)
	me.end() // before it polls again: the hub does not know that these were heard
	hears("the next bridge", bridgeTo(t, h, in(dir, "me")))
}
