package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/require"
)

func idOf(tb require.TB, n int) jsonrpc.ID {
	id, err := jsonrpc.MakeID(float64(n))
	require.NoError(tb, err)
	return id
}

// TestCancellationTakesBackItsOwn: a cancellation that crosses an answer takes back
// that answer and no other, whatever comes before what.
func TestCancellationTakesBackItsOwn(t *testing.T) {
	of := Feed{agent: "me"}
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
			f := Feeds{now: time.Now}
			x := newExchange(&f)
			f.Start(of, 0)
			var at RequestSeq
			run := func(id jsonrpc.ID, since, cursor hub.MessageID, steps string) {
				for step := range strings.FieldsSeq(steps) {
					switch step {
					case "begin":
						if x.begin(id); x.begin(id) {
							t.Error("an id is taken twice")
						}
						at = x.seqOf(id)
					case "stage":
						f.Stage(at, of, since, cursor)
					case "answer":
						at = x.answer(&jsonrpc.Response{ID: id})
					case "error":
						at = x.answer(&jsonrpc.Response{ID: id, Error: errors.New("cancelled")})
					case "written", "lost":
						x.answered(at, step == "written")
					case "cancel":
						x.cancel(id)
					case "forget":
						f.Forget()
					}
				}
			}
			run(idOf(t, 1), 0, 5, "begin stage answer written")
			run(idOf(t, 2), 5, 7, c.steps)
			if got, _ := f.Known(of); got != c.want {
				t.Errorf("the cursor is at %d, want %d", got, c.want)
			}
			x.drained(time.Hour) // at once
		})
	}
}

// TestLateCancellationsAreAHabit: a client that cancels each request after its answer, whatever
// it was, has got the answers. Its cancellations take nothing back, at once where the client is
// known and after three in a row where it is not. One request that it does not cancel ends a row.
func TestLateCancellationsAreAHabit(t *testing.T) {
	for name, c := range map[string]struct {
		known bool
		steps string // x: a request that is cancelled after its answer, o: one that is not
		want  hub.MessageID
	}{
		"a known client":     {true, "", 5},
		"after three":        {false, "xx", 5},
		"after two":          {false, "x", 0},
		"one is not":         {false, "xox", 0},
		"again three in row": {false, "xoxx", 5},
	} {
		t.Run(name, func(t *testing.T) {
			of := Feed{agent: "me"}
			f := Feeds{now: time.Now}
			if c.known {
				f.LateCancels = func() bool { return true }
			}
			x := newExchange(&f)
			f.Start(of, 0)
			for i, step := range c.steps + "p" {
				id := idOf(t, i+1)
				x.begin(id)
				if step == 'p' {
					f.Stage(x.seqOf(id), of, 0, 5)
				}
				x.answered(x.answer(&jsonrpc.Response{ID: id}), true)
				if step != 'o' {
					x.cancel(id)
					x.cancel(id)
				}
			}
			if got, _ := f.Known(of); got != c.want {
				t.Errorf("the cursor is at %d, want %d", got, c.want)
			}
		})
	}
}

// TestCancellationLeavesWhatAnotherAnswerHas: a client that cancels a poll and polls
// again at once may be answered before its cancellation is here. The rows that the
// second answer has do not come a third time.
func TestCancellationLeavesWhatAnotherAnswerHas(t *testing.T) {
	f := Feeds{now: time.Now}
	x, of := newExchange(&f), Feed{agent: "me"}
	f.Start(of, 0)
	var seqs []RequestSeq
	for n := 1; n <= 2; n++ {
		x.begin(idOf(t, n))
		seqs = append(seqs, x.seqOf(idOf(t, n)))
		f.Stage(seqs[n-1], of, 0, 5)
	}
	for n := 1; n <= 2; n++ {
		x.answered(x.answer(&jsonrpc.Response{ID: idOf(t, n)}), true)
	}
	x.cancel(idOf(t, 1))
	if got, _ := f.Known(of); got != 5 {
		t.Errorf("the first of two answers with the same rows was cancelled: the cursor is at %d, want 5", got)
	}
	x.cancel(idOf(t, 2))
	if got, _ := f.Known(of); got != 0 {
		t.Errorf("both were cancelled: the cursor is at %d, want 0", got)
	}
}

// poller is one poll of TestFeedsNeverSkip.
type poller struct {
	id        jsonrpc.ID
	seq       RequestSeq
	since, to hub.MessageID
	begun     bool
	answered  bool
	written   time.Time
	cancelled bool
}

// TestFeedsNeverSkip runs and cancels polls at random. A cursor is never above
// a row that is in no answer, and never below rows that are all in answers. The hub
// is never told of a row unless an answer with it was written whole and not canceled,
// also later.
func TestFeedsNeverSkip(t *testing.T) {
	rapid.Check(t, feedsNeverSkip)
}

func feedsNeverSkip(t *rapid.T) {
	clock := time.Unix(0, 0)
	f := Feeds{AckDelay: AckDelay, now: func() time.Time { return clock }}
	x, of := newExchange(&f), Feed{agent: "me"}
	f.Start(of, 0)
	var polls []*poller
	var told hub.MessageID
	within := func(id hub.MessageID) bool {
		return slices.ContainsFunc(polls, func(p *poller) bool { return p.answered && !p.cancelled && p.since < id && id <= p.to })
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		step := rapid.SampledFrom([]string{"arrive", "begin", "answer", "write", "cancel", "later", "tell", "away"}).Draw(t, "step")
		if step == "arrive" {
			p := &poller{id: idOf(t, len(polls)+1)}
			x.begin(p.id)
			p.seq = x.seqOf(p.id)
			polls = append(polls, p)
		}
		if len(polls) == 0 {
			continue
		}
		p := polls[rapid.IntRange(0, len(polls)-1).Draw(t, "which")]
		switch {
		case step == "begin" && !p.begun:
			at, heard, _, _ := f.Begin(of)
			if heard {
				told = max(told, at)
			}
			p.begun, p.since = true, at
			p.to = at + hub.MessageID(rapid.IntRange(0, 5).Draw(t, "rows"))
			f.Stage(p.seq, of, p.since, p.to)
		case step == "answer" && p.begun && !p.answered:
			p.answered = true
			x.answer(&jsonrpc.Response{ID: p.id})
		case step == "write" && p.answered && p.written.IsZero():
			p.written = clock
			x.answered(p.seq, true)
		case step == "cancel" && (p.written.IsZero() || clock.Sub(p.written) < AckDelay):
			p.cancelled = true
			x.cancel(p.id)
		case step == "tell":
			list, _ := f.Untold("me")
			for _, p := range list {
				told = max(told, p.At)
				f.Tell(p.Feed, p.At)
			}
		case step == "away":
			f.Again()
			if list, _ := f.Untold("me"); told > 0 && (len(list) != 1 || list[0].At < told) {
				t.Fatalf("the hub that was told of %d and was away is told of %v", told, list)
			}
		case step == "later":
			clock = clock.Add(AckDelay / 2)
		}
		at, _ := f.Known(of)
		for id := hub.MessageID(1); id <= max(at, told); id++ {
			if !within(id) {
				t.Fatalf("the cursor is at %d, the hub was told of %d, and %d is in no answer", at, told, id)
			}
		}
		if within(at + 1) {
			t.Fatalf("the cursor is at %d, and the next row is in an answer, too", at)
		}
	}
}
