package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// twoEntries is a ring that holds two small messages.
const twoEntries = 2 * (400 + 420)

func ringOf(bytes int) func(*Options) { return func(o *Options) { o.RingBytes = bytes } }

// selects says which messages a poll must show; it is written apart from the
// code under test.
type selects func(m *hub.Message) bool

func public(m *hub.Message) bool { return m.ToAgent == nil }
func direct(to hub.AgentID) selects {
	return func(m *hub.Message) bool { return m.ToAgent != nil && *m.ToAgent == to }
}

func inChannel(names ...hub.ChannelName) selects {
	return func(m *hub.Message) bool { return public(m) && slices.Contains(names, m.Channel) }
}

func inThread(id hub.ThreadID) selects {
	return func(m *hub.Message) bool { return m.ThreadID != nil && *m.ThreadID == id }
}
func either(a, b selects) selects { return func(m *hub.Message) bool { return a(m) || b(m) } }
func both(a, b selects) selects   { return func(m *hub.Message) bool { return a(m) && b(m) } }
func notFrom(agent hub.AgentID) selects {
	return func(m *hub.Message) bool { return m.FromAgent != agent }
}

func everything(*hub.Message) bool { return true }
func party(agent hub.AgentID) selects {
	return func(m *hub.Message) bool { return m.FromAgent == agent || m.ToAgent != nil && *m.ToAgent == agent }
}

// reader is one way to read on behalf of an agent.
type reader struct {
	name string
	read func(ctx context.Context, r *rig, since hub.MessageID, limit int, wait time.Duration) (hub.Page, error)
	want selects
}

func events(q hub.EventsQuery) func(context.Context, *rig, hub.MessageID, int, time.Duration) (hub.Page, error) {
	return func(ctx context.Context, r *rig, since hub.MessageID, limit int, wait time.Duration) (hub.Page, error) {
		q.Since, q.Limit, q.Wait = since, limit, wait
		return r.Events(ctx, q)
	}
}

func logged(q hub.LogQuery) func(context.Context, *rig, hub.MessageID, int, time.Duration) (hub.Page, error) {
	return func(ctx context.Context, r *rig, since hub.MessageID, limit int, wait time.Duration) (hub.Page, error) {
		q.SinceID, q.Limit, q.Wait = since, limit, wait
		return r.Log(ctx, q)
	}
}

// readersOf lists every way in which agent can read.
func readersOf(agent hub.AgentID) []reader {
	mine := direct(agent)
	ch := []hub.ChannelName{"room0", "room2", "general", "room0"}
	return []reader{
		{"events", events(hub.EventsQuery{Agent: agent}), either(public, mine)},
		{"events without own", events(hub.EventsQuery{Agent: agent, ExcludeSelf: true}), both(either(public, mine), notFrom(agent))},
		{"events of a channel", events(hub.EventsQuery{Agent: agent, Channels: ch[:1]}), either(inChannel("room0"), mine)},
		{"events of channels", events(hub.EventsQuery{Agent: agent, Channels: ch}), either(inChannel(ch...), mine)},
		{"events of a thread", events(hub.EventsQuery{Agent: agent, ThreadID: "t1"}), both(either(public, mine), inThread("t1"))},
		{"events of a thread in a channel", events(hub.EventsQuery{Agent: agent, Channels: ch[:1], ThreadID: "t1"}), both(either(inChannel("room0"), mine), inThread("t1"))},
		{"channel", func(ctx context.Context, r *rig, since hub.MessageID, limit int, wait time.Duration) (hub.Page, error) {
			return r.Messages(ctx, hub.MessagesQuery{Channel: "room1", Since: since, Limit: limit, Wait: wait})
		}, inChannel("room1")},
		{"thread", func(ctx context.Context, r *rig, since hub.MessageID, limit int, wait time.Duration) (hub.Page, error) {
			return r.Messages(ctx, hub.MessagesQuery{ThreadID: "t2", Since: since, Limit: limit, Wait: wait})
		}, both(public, inThread("t2"))},
		{"inbox", func(ctx context.Context, r *rig, since hub.MessageID, limit int, _ time.Duration) (hub.Page, error) {
			return r.Inbox(ctx, hub.InboxQuery{Agent: agent, Since: since, Limit: limit})
		}, mine},
		{"log", logged(hub.LogQuery{}), public},
		{"log of a channel", logged(hub.LogQuery{Channel: "room1"}), inChannel("room1")},
		{"log of a thread", logged(hub.LogQuery{ThreadID: "t1"}), both(public, inThread("t1"))},
		{"log of an agent", logged(hub.LogQuery{Agent: agent}), both(public, party(agent))},
	}
}

// operatorsReadersOf lists every way in which the operator reads what concerns agent.
func operatorsReadersOf(agent hub.AgentID) []reader {
	return []reader{
		{"log with direct messages", logged(hub.LogQuery{Direct: true}), everything},
		{"log of a thread with direct messages", logged(hub.LogQuery{ThreadID: "t1", Direct: true}), inThread("t1")},
		{"log of an agent with direct messages", logged(hub.LogQuery{Agent: agent, Direct: true}), party(agent)},
	}
}

// Invariant 2: sequence order = commit order = visibility order; a poll with
// since_id never misses and never repeats a row, from every scope, ring or disk.
// Many post while many poll in every way, and the ring holds two messages.
func TestInvariant2PollsMissAndRepeatNothingUnderLoad(t *testing.T) {
	store := newMemStore()
	store.delay = randomDelay(1, 300*time.Microsecond)
	r := start(t, store, ringOf(twoEntries))
	for _, ch := range someChannels[:4] {
		r.channel(ch)
	}
	var posters, pollers sync.WaitGroup
	finished := make(chan struct{})
	type outcome struct {
		reader
		seen []hub.MessageID
	}
	var mu sync.Mutex
	var outcomes []*outcome
	for _, agent := range someAgents[:3] {
		for _, rd := range append(readersOf(agent), operatorsReadersOf(agent)...) {
			o := &outcome{reader: rd}
			o.name += " by " + string(agent)
			outcomes = append(outcomes, o)
			pollers.Go(func() {
				rng := rand.New(rand.NewPCG(7, uint64(len(o.name))))
				since := hub.MessageID(0)
				for {
					over := false
					select {
					case <-finished:
						over = true
					default:
					}
					p, err := o.read(t.Context(), r, since, 1+rng.IntN(20), time.Duration(rng.IntN(5))*time.Millisecond)
					if err != nil {
						t.Errorf("%s: %v", o.name, err)
						return
					}
					mu.Lock()
					for _, m := range decodeAll(t, p.Rows) {
						if m.ID <= since || m.ID > p.NextSinceID {
							t.Errorf("%s: row %d in (%d, %d]", o.name, m.ID, since, p.NextSinceID)
						}
						since = m.ID // rising within the page too
						o.seen = append(o.seen, m.ID)
					}
					mu.Unlock()
					if over && len(p.Rows) == 0 && p.NextSinceID == r.view.Ring.Visible() {
						return
					}
					since = p.NextSinceID
				}
			})
		}
	}
	for w := range 6 {
		posters.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(w)))
			for i := range 150 {
				in := hub.PostInput{FromAgent: pick(rng, someAgents), Channel: pick(rng, someChannels), ThreadID: pick(rng, someThreads), Body: fmt.Sprintf("%d/%d %x %x %x", w, i, rng.Uint64(), rng.Uint64(), rng.Uint64())} // the guard slows posts that are alike
				if rng.IntN(3) == 0 {
					in.ToAgent = pick(rng, someAgents)
				}
				// Six agents that write all the time are slowed at times: such a post is not there.
				if _, err := r.tryPost(t.Context(), in); err != nil && codeOf(err) != hub.CodeSlowed {
					t.Errorf("post: %v", err)
				}
			}
		})
	}
	posters.Wait()
	close(finished)
	pollers.Wait()
	if n := r.view.Sizes()["messages"]; n > 2 {
		t.Errorf("the ring holds %d messages", n)
	}
	all := storedMessages(t, store)
	for _, o := range outcomes {
		var want []hub.MessageID
		for i := range all {
			if o.want(&all[i]) {
				want = append(want, all[i].ID)
			}
		}
		if len(want) == 0 {
			t.Errorf("%s: the load had no message for it", o.name)
		}
		if !slices.Equal(o.seen, want) {
			t.Errorf("%s: saw %d rows, want %d; first difference at %d", o.name, len(o.seen), len(want), firstDifference(o.seen, want))
		}
	}
}

func firstDifference(a, b []hub.MessageID) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func storedMessages(t testing.TB, s *memStore) []hub.Message {
	t.Helper()
	d := s.clone()
	rows := make([]hub.EncodedMessage, len(d.messages))
	for i := range d.messages {
		rows[i] = d.messages[i].JSON
	}
	return decodeAll(t, rows)
}

// Every read of every position and limit equals a reading of the list of all
// messages, whatever of it the ring holds.
func TestReadsEqualTheListOfMessages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := newMemStore()
		r := start(t, store, ringOf(rapid.SampledFrom([]int{1, twoEntries, 10 * twoEntries, 1 << 20}).Draw(rt, "ring")))
		defer r.stop()
		for _, ch := range someChannels[:4] {
			r.channel(ch)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for i := range rapid.IntRange(0, 40).Draw(rt, "messages") {
			in := hub.PostInput{FromAgent: pick(rng, someAgents[:3]), Channel: pick(rng, someChannels), ThreadID: pick(rng, someThreads), Body: fmt.Sprint(i)}
			if rng.IntN(2) == 0 {
				in.ToAgent = pick(rng, someAgents[:3])
			}
			r.post(in)
		}
		all := storedMessages(t, store)
		head := hub.MessageID(len(all))
		for _, rd := range append(readersOf(someAgents[0]), operatorsReadersOf(someAgents[0])...) {
			for range 6 {
				since, limit := hub.MessageID(rng.IntN(len(all)+3)), 1+rng.IntN(8)
				p, err := rd.read(t.Context(), r, since, limit, 0)
				if err != nil {
					rt.Fatalf("%s: %v", rd.name, err)
				}
				for r.view.Ring.Visible() != head { // the hub has posted a notice by itself
					all = storedMessages(t, store)
					head = hub.MessageID(len(all))
					p, err = rd.read(t.Context(), r, since, limit, 0)
					if err != nil {
						rt.Fatalf("%s: %v", rd.name, err)
					}
				}
				// The cursor stands on the last row or behind it, but before
				// the next one; with nothing left it stands at the head.
				var want []hub.MessageID
				low, high := max(since, head), max(since, head)
				for i := range all {
					m := &all[i]
					if m.ID <= since || !rd.want(m) {
						continue
					}
					if len(want) == limit {
						high = m.ID - 1
						break
					}
					if want = append(want, m.ID); len(want) == limit {
						low = m.ID
					}
				}
				got := ids(decodeAll(t, p.Rows))
				if !slices.Equal(got, want) || p.NextSinceID < low || p.NextSinceID > high {
					rt.Fatalf("%s since %d limit %d: rows %v next %d, want %v next %d to %d", rd.name, since, limit, got, p.NextSinceID, want, low, high)
				}
			}
		}
		tails(rt, t, r, all, rng)
	})
}

// tails compares the last rows of a channel, a thread and an inbox.
func tails(rt *rapid.T, t *testing.T, r *rig, all []hub.Message, rng *rand.Rand) {
	limit := 1 + rng.IntN(8)
	for name, x := range map[string]struct {
		page func() (hub.Page, error)
		want selects
	}{
		"channel": {func() (hub.Page, error) {
			return r.Messages(t.Context(), hub.MessagesQuery{Channel: "room1", Limit: limit, Tail: true})
		}, inChannel("room1")},
		"thread": {func() (hub.Page, error) {
			return r.Messages(t.Context(), hub.MessagesQuery{ThreadID: "t1", Limit: limit, Tail: true})
		}, both(public, inThread("t1"))},
		"inbox": {func() (hub.Page, error) {
			return r.Inbox(t.Context(), hub.InboxQuery{Agent: someAgents[1], Limit: limit, Tail: true})
		}, direct(someAgents[1])},
		"log": {func() (hub.Page, error) {
			return r.Log(t.Context(), hub.LogQuery{Direct: true, Limit: limit, Tail: true})
		}, everything},
	} {
		p, err := x.page()
		var want []hub.MessageID
		for i := range all {
			if x.want(&all[i]) {
				want = append(want, all[i].ID)
			}
		}
		want = want[max(0, len(want)-limit):]
		if got := ids(decodeAll(t, p.Rows)); err != nil || !slices.Equal(got, want) || p.NextSinceID != hub.MessageID(len(all)) {
			rt.Fatalf("tail of %s: %v next %d, %v; want %v next %d", name, got, p.NextSinceID, err, want, len(all))
		}
	}
}

func ids(ms []hub.Message) (out []hub.MessageID) {
	for i := range ms {
		out = append(out, ms[i].ID)
	}
	return out
}

// Invariant 7: a parked waiter costs no query and no re-encoding while nothing
// comes into its scopes, and a filtered row is examined once per call.
func TestInvariant7ParkedPollCostsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.channel("a")
		r.channel("b")
		poll := func(q hub.EventsQuery) <-chan result[hub.Page] {
			q.Agent, q.Limit, q.Wait = "ann", 10, time.Minute
			c := async(func() (hub.Page, error) { return r.Events(t.Context(), q) })
			synctest.Wait()
			return c
		}
		waits := poll(hub.EventsQuery{Channels: []hub.ChannelName{"a"}})
		for range 20 {
			r.say("bob", "b", "elsewhere")
			r.post(hub.PostInput{FromAgent: "bob", ToAgent: "eve", Body: "to another"})
		}
		synctest.Wait()
		parked(t, waits)
		if n := r.view.Sizes()["scopes listened to"]; n != 2 { // the channel and the inbox
			t.Errorf("one call listens to %d scopes", n)
		}
		own := poll(hub.EventsQuery{ExcludeSelf: true, Since: r.view.Ring.Visible()})
		r.say("ann", "a", "own")
		synctest.Wait()
		parked(t, own)
		if p := <-waits; p.err != nil || len(p.v.Rows) != 1 {
			t.Errorf("the waiter of the scope: %+v", p)
		}
		r.say("bob", "b", "x")
		if p := <-own; p.err != nil || len(p.v.Rows) != 1 || p.v.NextSinceID != r.view.Ring.Visible() {
			t.Errorf("poll without own: %+v", p)
		}
		synctest.Wait()
		if n := r.view.Sizes()["scopes listened to"]; n != 0 {
			t.Errorf("%d scopes are listened to although nobody waits", n)
		}
	})
}

// Rows that a poll leaves out move its cursor: they are not examined again.
func TestFilteredRowsMoveTheCursor(t *testing.T) {
	for _, size := range []int{1, 1 << 20} {
		r := start(t, newMemStore(), ringOf(size))
		for range 10 {
			r.say("ann", "", "own")
		}
		p, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ann", ExcludeSelf: true, Limit: 5})
		if err != nil || len(p.Rows) != 0 || p.NextSinceID != 10 {
			t.Errorf("ring of %d bytes: %d rows, next %d, %v", size, len(p.Rows), p.NextSinceID, err)
		}
	}
}

// A thousand parked polls are woken by one post.
func TestOnePostWakesAllWhoWait(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var polls []<-chan result[hub.Page]
		for i := range 1000 {
			polls = append(polls, async(func() (hub.Page, error) {
				return r.Events(t.Context(), hub.EventsQuery{Agent: hub.AgentID(fmt.Sprint("a", i)), Limit: 10, Wait: time.Minute})
			}))
		}
		synctest.Wait()
		if n := r.Counts().ParkedPolls; n != 1000 {
			t.Fatalf("%d parked", n)
		}
		begun := time.Now()
		r.say("bob", "", "wake up")
		for _, p := range polls {
			if p := <-p; p.err != nil || len(p.v.Rows) != 1 {
				t.Fatalf("%+v", p)
			}
		}
		if time.Since(begun) != 0 {
			t.Errorf("woken after %v", time.Since(begun))
		}
	})
}

// A budget of characters keeps the newest rows whole; there is always a row. A
// body that is shorter than the notice in its place stays.
func TestCharacterBudget(t *testing.T) {
	r := start(t, newMemStore())
	r.channel("short")
	for _, body := range []string{"a", "b", "c"} {
		r.say("ann", "", strings.Repeat(body, 500))
	}
	r.say("ann", "short", "tiny")
	for max, whole := range map[int]int{0: 3, 1500: 3, 1499: 2, 1000: 2, 500: 1, 499: 0, 1: 0} {
		short, err := r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Channels: []hub.ChannelName{"short"}, Limit: 10, MaxChars: 1})
		if err != nil || len(short.Rows) != 1 || decodeAll(t, short.Rows)[0].Truncated != nil {
			t.Fatalf("a short body: %s, %v", short.Rows, err)
		}
		p, err := r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Channels: []hub.ChannelName{"general"}, Limit: 10, MaxChars: max})
		if err != nil || len(p.Rows) != 3 {
			t.Fatalf("budget %d: %d rows, %v", max, len(p.Rows), err)
		}
		for i, m := range decodeAll(t, p.Rows) {
			if isWhole := m.Truncated == nil; isWhole != (i >= 3-whole) {
				t.Errorf("budget %d: row %d whole %v", max, i, isWhole)
			}
		}
	}
}
