package mcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestCancelledPollEnds: a cancelled poll ends at once, in the bridge and at
// the hub.
func TestCancelledPollEnds(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := me.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40, "verbose": true}})
		done <- err
	}()
	awaitParked(t, me, "me")
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled poll succeeds")
	}
	require.Eventually(t, "the poll stays parked after it was cancelled", func() bool {
		s, err := me.hub.AppStatus(context.Background())
		return err == nil && s.Counts.ParkedPolls == 0
	})
}

// TestCancellationLosesNothing: a message that wakes a poll is in its answer.
// If the poll is cancelled, at any moment, the message is in the answer of the
// next poll. It comes a second time only if the answer has crossed the
// cancellation: the bridge cannot know that the client took it.
func TestCancellationLosesNothing(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	times := map[hub.MessageID]int{}
	hear := func(res *sdk.CallToolResult) {
		var p polled
		read(t, res, &p)
		for _, m := range p.Messages {
			times[m.ID]++
		}
	}
	crossed := false // the last cancellation and the answer
	for range 30 {
		cancel, done, repeated := parkedPoll(t, me)
		if repeated != nil {
			if !crossed {
				t.Errorf("a poll ends at once, and no cancellation has crossed an answer: %s", text(repeated))
			}
			hear(repeated)
			cancel, done, repeated = parkedPoll(t, me)
			if repeated != nil {
				t.Fatalf("polls end at once again and again: %s", text(repeated))
			}
		}
		id := me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: strings.Repeat("x", 100_000)})
		time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond) // any moment between waking and reading
		cancel()
		res := <-done
		if crossed = res != nil; crossed {
			hear(res)
		}
		if times[id] == 0 {
			hear(me.try("hub_poll_messages", args{"timeout_seconds": 20, "verbose": true}))
		}
		if times[id] == 0 {
			t.Fatalf("message %d is lost; heard are %v", id, times)
		}
	}
	for id, n := range times {
		if n > 2 {
			t.Errorf("message %d comes %d times", id, n)
		}
	}
}

// parkedPoll begins a poll that the caller may cancel. It returns when the poll waits at
// the hub, or with the answer of a poll that ended at once. The answer of one that was
// cancelled is nil, unless it came all the same.
func parkedPoll(t *testing.T, r *rig) (cancel func(), done <-chan *sdk.CallToolResult, ended *sdk.CallToolResult) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan *sdk.CallToolResult, 1)
	go func() {
		res, err := r.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40, "verbose": true}})
		if err != nil {
			res = nil
		}
		answer <- res
	}()
	require.Eventually(t, "a parked poll", func() bool {
		select {
		case ended = <-answer:
			cancel()
			if ended == nil {
				t.Fatal("a poll that nobody has cancelled fails")
			}
			return true
		default:
		}
		s, err := r.hub.AppStatus(context.Background())
		return err == nil && s.Counts.ParkedPolls > 0
	})
	return cancel, answer, ended
}

// TestOneAnswerUnderTheOwnID: every request gets one answer, under the id that
// the client gave it, whatever this id is.
func TestOneAnswerUnderTheOwnID(t *testing.T) {
	h := testhub.Start(t)
	ids := []string{`1`, `-7`, `0`, `1.5`, `99999999999999999999`, `9007199254740993`, `1e999`, `"a"`, `"1"`, `""`, `"\ud800"`, `9007199254740991`}
	answers := spoken(t, h, func(say func(string), next func() spokenLine) {
		for _, id := range ids {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
		}
		// A second request with the id of a request that is under way.
		poll := `{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"hub_poll_messages","arguments":{"timeout_seconds":30}}}`
		say(poll)
		say(poll)
		for range len(ids) + 1 {
			next()
		}
		say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"twice"}}`)
		next()
	})
	got := map[string]int{}
	for _, a := range answers {
		got[string(a.ID)]++
	}
	for _, id := range ids {
		if id != "1e999" && got[id] != 1 {
			t.Errorf("the request %s has %d answers", id, got[id])
		}
	}
	if got[`"twice"`] != 2 {
		t.Errorf("two requests of one id have %d answers: %v", got[`"twice"`], got)
	}
}

// TestPingIsNoIntroduction: the client has the name that it gives in
// initialize, whatever it sends before.
func TestPingIsNoIntroduction(t *testing.T) {
	h := testhub.Start(t)
	var said string
	spokenTo(t, h, func(c *Config) { c.Agent = "" }, func(b *bridge, say func(string), next func() spokenLine) {
		say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		next()
		select {
		case <-b.link.Met:
			t.Error("a ping introduces the client")
		default:
		}
		say(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}`)
		next()
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hub_whoami"}}`)
		said = string(next().Result)
	})
	if !strings.Contains(said, "codex-") {
		t.Errorf("behind a ping it is %s", said)
	}
}
