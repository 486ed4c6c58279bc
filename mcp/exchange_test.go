package mcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

func idOf(tb interface{ Fatal(...any) }, n int) jsonrpc.ID {
	id, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// TestCancelledPollEnds: a poll that is cancelled ends at once, at the hub too.
func TestCancelledPollEnds(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
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
	eventually(t, "the poll stays parked after it was cancelled", func() bool {
		s, err := me.hub.AppStatus(context.Background())
		return err == nil && s.Counts.ParkedPolls == 0
	})
}

// TestCancellationLosesNothing: whenever a poll is cancelled that is being woken,
// what it would have returned is in the answer to one that was not.
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
			res, err := me.CallTool(ctx, &sdk.CallToolParams{Name: "hub_poll_messages", Arguments: args{"timeout_seconds": 40}})
			if err != nil {
				res = nil
			}
			done <- res
		}()
		awaitParked(t, me, "me")
		id := me.say(t, hub.PostInput{FromAgent: "you", Channel: room.Channel(), Body: strings.Repeat("x", 100_000)})
		time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond) // anywhere from waking to reading
		cancel()
		if res := <-done; res != nil {
			hear(res)
		}
		if !slices.Contains(heard, id) {
			hear(me.try("hub_poll_messages", args{"timeout_seconds": 20}))
		}
		if !slices.Contains(heard, id) {
			t.Fatalf("message %d is lost; heard are %v", id, heard)
		}
	}
}

// TestCancellationTakesBackItsOwn: a cancellation that crosses an answer takes back
// that answer and no other, whatever comes before what.
func TestCancellationTakesBackItsOwn(t *testing.T) {
	of := feed{agent: "me"}
	for name, c := range map[string]struct {
		steps string // of the second poll, behind the first
		want  hub.MessageID
	}{
		"none":                     {"begin stage answer written", 7},
		"before it is rendered":    {"begin cancel stage answer written", 5},
		"before it is answered":    {"begin stage cancel answer written", 5},
		"while it is written":      {"begin stage answer cancel written", 5},
		"after it was written":     {"begin stage answer written cancel", 5},
		"twice":                    {"begin stage answer written cancel cancel", 5},
		"answered with an error":   {"begin stage error written", 5},
		"the client does not read": {"begin stage answer lost", 5},
		"in another store":         {"begin stage forget answer written", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := feeds{now: time.Now}
			x := newExchange(&f)
			f.start(of, 0)
			var at ticket
			run := func(id jsonrpc.ID, since, cursor hub.MessageID, steps string) {
				for step := range strings.FieldsSeq(steps) {
					switch step {
					case "begin":
						if x.begin(id); x.begin(id) {
							t.Error("an id is taken twice")
						}
						at = x.ticketOf(id)
					case "stage":
						f.stage(at, of, since, cursor)
					case "answer":
						at = x.answer(&jsonrpc.Response{ID: id})
					case "error":
						at = x.answer(&jsonrpc.Response{ID: id, Error: errors.New("cancelled")})
					case "written", "lost":
						x.answered(at, step == "written")
					case "cancel":
						x.cancel(id)
					case "forget":
						f.forget()
					}
				}
			}
			run(idOf(t, 1), 0, 5, "begin stage answer written")
			run(idOf(t, 2), 5, 7, c.steps)
			if got, _ := f.known(of); got != c.want {
				t.Errorf("the cursor is at %d, want %d", got, c.want)
			}
			x.drained(time.Hour) // at once
		})
	}
}

// poller is one poll of TestFeedsNeverSkip.
type poller struct {
	id        jsonrpc.ID
	ticket    ticket
	since, to hub.MessageID
	begun     bool
	answered  bool
	written   time.Time
	cancelled bool
}

// TestFeedsNeverSkip: whatever polls do at once, and however they are cancelled, a
// cursor is never above a row that is in no answer, and the hub is never told of a
// row that is in none which was written whole and not cancelled, also later.
func TestFeedsNeverSkip(t *testing.T) {
	rapid.Check(t, feedsNeverSkip)
}

func feedsNeverSkip(t *rapid.T) {
	clock := time.Unix(0, 0)
	f := feeds{crossing: crossing, now: func() time.Time { return clock }}
	x, of := newExchange(&f), feed{agent: "me"}
	f.start(of, 0)
	var polls []*poller
	var told hub.MessageID
	within := func(id hub.MessageID) bool {
		return slices.ContainsFunc(polls, func(p *poller) bool { return p.answered && !p.cancelled && p.since < id && id <= p.to })
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		step := rapid.SampledFrom([]string{"arrive", "begin", "answer", "write", "cancel", "later", "tell"}).Draw(t, "step")
		if step == "arrive" {
			p := &poller{id: idOf(t, len(polls)+1)}
			x.begin(p.id)
			p.ticket = x.ticketOf(p.id)
			polls = append(polls, p)
		}
		if len(polls) == 0 {
			continue
		}
		p := polls[rapid.IntRange(0, len(polls)-1).Draw(t, "which")]
		switch {
		case step == "begin" && !p.begun:
			at, heard, _, _ := f.begin(of)
			if heard {
				told = max(told, at)
			}
			p.begun, p.since = true, at
			p.to = at + hub.MessageID(rapid.IntRange(0, 5).Draw(t, "rows"))
			f.stage(p.ticket, of, p.since, p.to)
		case step == "answer" && p.begun && !p.answered:
			p.answered = true
			x.answer(&jsonrpc.Response{ID: p.id})
		case step == "write" && p.answered && p.written.IsZero():
			p.written = clock
			x.answered(p.ticket, true)
		case step == "cancel" && (p.written.IsZero() || clock.Sub(p.written) < crossing):
			p.cancelled = true
			x.cancel(p.id)
		case step == "tell":
			list, _ := f.untold("me")
			for _, p := range list {
				told = max(told, p.at)
				f.tell(p.feed, p.at)
			}
		case step == "later":
			clock = clock.Add(crossing / 2)
		}
		at, _ := f.known(of)
		for id := hub.MessageID(1); id <= max(at, told); id++ {
			if !within(id) {
				t.Fatalf("the cursor is at %d, the hub was told of %d, and %d is in no answer", at, told, id)
			}
		}
	}
}

// TestOneAnswerUnderTheOwnID: every request is answered once, under the id that the
// client gave it, whatever that is.
func TestOneAnswerUnderTheOwnID(t *testing.T) {
	h := testhub.Start(t)
	ids := []string{`1`, `-7`, `0`, `1.5`, `99999999999999999999`, `9007199254740993`, `1e999`, `"a"`, `"1"`, `""`, `"\ud800"`, `9007199254740991`}
	answers := spoken(t, h, func(say func(string), next func() spokenLine) {
		for _, id := range ids {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
		}
		// The second of an id whose first is under way.
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

// TestPingIsNoIntroduction: whatever comes before initialize, the client is who it
// says there.
func TestPingIsNoIntroduction(t *testing.T) {
	h := testhub.Start(t)
	var said string
	spokenTo(t, h, func(c *Config) { c.Agent = "" }, func(b *bridge, say func(string), next func() spokenLine) {
		say(ping)
		next()
		select {
		case <-b.met:
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
