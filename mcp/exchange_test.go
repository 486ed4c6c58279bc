package mcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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
// next poll.
func TestCancellationLosesNothing(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	room := bound(t, me, dir)
	me.must("hub_poll_messages", args{"timeout_seconds": 0}, nil)
	var heard []hub.MessageID
	hear := func(res *sdk.CallToolResult) {
		var p polled
		read(t, res, &p)
		for _, m := range p.Messages {
			heard = append(heard, m.ID)
		}
	}
	for range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan *sdk.CallToolResult, 1)
		go func() {
			res, err := me.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40, "verbose": true}})
			if err != nil {
				res = nil
			}
			done <- res
		}()
		awaitParked(t, me, "me")
		id := me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: strings.Repeat("x", 100_000)})
		time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond) // any moment between waking and reading
		cancel()
		if res := <-done; res != nil {
			hear(res)
		}
		if !slices.Contains(heard, id) {
			hear(me.try("hub_poll_messages", args{"timeout_seconds": 20, "verbose": true}))
		}
		if !slices.Contains(heard, id) {
			t.Fatalf("message %d is lost; heard are %v", id, heard)
		}
	}
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
