package mcp

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

// say posts as somebody else.
func (r *rig) say(t *testing.T, in hub.PostInput) hub.MessageID {
	t.Helper()
	out, err := r.hub.Post(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	row, err := out.Row.Decode()
	if err != nil {
		t.Fatal(err)
	}
	return row.ID
}

func bodies(list []shownMessage) (out []string) {
	for _, m := range list {
		out = append(out, m.Body)
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
// died comes again to the next bridge of the agent, and what came in between too.
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
	post(first, "returned")
	first.must("hub_poll_messages", nil, nil) // says that seen has been seen
	first.end()
	second := bridgeTo(t, h, in(dir, "me"))
	post(second, "between")
	var p polled
	if second.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"returned", "between"}) {
		t.Errorf("the next bridge hears %v, want returned and between", bodies(p.Messages))
	}
}

// TestNewAgentBegins: who has never read begins with the first message that asks
// something of it, else with what is new.
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

// TestCancelledPollLosesNothing: a poll that is cancelled ends at once, and what
// came meanwhile is in the next, also if the answer has crossed the cancellation.
func TestCancelledPollLosesNothing(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := me.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40}})
		done <- err
	}()
	awaitParked(t, me, "me")
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled poll succeeds")
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		s, err := me.hub.AppStatus(context.Background())
		if err == nil && s.Counts.ParkedPolls == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the poll stays parked after it was cancelled")
		}
		time.Sleep(5 * time.Millisecond)
	}
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "crossed"})
	var p polled
	me.must("hub_poll_messages", nil, &p)
	// The answer has been written; the client cancels before it has read it.
	me.bridge.feeds.undo()
	if me.must("hub_poll_messages", args{"timeout_seconds": 0}, &p); !slices.Equal(bodies(p.Messages), []string{"crossed"}) {
		t.Errorf("after an answer that crossed its cancellation: %v, want crossed", bodies(p.Messages))
	}
}

// TestCancellationUndoes: the server tells the feeds of a cancellation.
func TestCancellationUndoes(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: "crossed"})
	var p polled
	me.must("hub_poll_messages", nil, &p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = me.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40}})
	}()
	awaitParked(t, me, "me")
	cancel()
	<-done
	deadline := time.Now().Add(10 * time.Second)
	for p.Messages = nil; len(p.Messages) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("a cancellation takes nothing back")
		}
		me.must("hub_poll_messages", args{"timeout_seconds": 0}, &p)
	}
}

// TestFeedsNeverSkip: whatever polls do at once, and however they are cancelled,
// a cursor is never above a row that was not returned.
func TestFeedsNeverSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f feeds
		of := feed{agent: "me"}
		f.begin(of, 0)
		given := map[hub.MessageID]bool{} // rows that an answer returned and that was not taken back
		type poll struct{ since hub.MessageID }
		var open []poll
		var last []hub.MessageID
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				at, _ := f.known(of)
				open = append(open, poll{at})
			case 1:
				if len(open) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				p := open[i]
				open = slices.Delete(open, i, i+1)
				cursor := p.since + hub.MessageID(rapid.IntRange(0, 5).Draw(t, "rows"))
				f.move(of, p.since, cursor)
				last = last[:0]
				for id := p.since + 1; id <= cursor; id++ {
					if !given[id] {
						last = append(last, id)
					}
					given[id] = true
				}
			case 2:
				f.undo()
				for _, id := range last {
					delete(given, id) // the answer that crossed was the last
				}
				last = nil
			}
			at, _ := f.known(of)
			for id := hub.MessageID(1); id <= at; id++ {
				if !given[id] {
					t.Fatalf("the cursor is at %d and %d was not returned", at, id)
				}
			}
		}
	})
}
