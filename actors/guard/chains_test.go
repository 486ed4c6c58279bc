package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// saying is a turn with a text.
func saying(from, to, text string) *turn {
	return &turn{from: hub.AgentID(from), to: hub.AgentID(to), words: readWords(text, false)}
}

// stopAt are the limits of a room whose operator wants agents stopped.
func stopAt(hops int) limits { return limitsOf(&hops) }

// said plays a script on fresh chains and returns the hops of the last message. Each word is
// from>to, from@channel, from@channel/thread, +agent (progress), !agent (the operator writes
// to it), !@channel, or a number of seconds that pass.
func said(t *testing.T, script string) (hops int) {
	t.Helper()
	c, now := newChains(), int64(1)
	for _, word := range strings.Fields(script) {
		var sec int64
		if n, _ := fmt.Sscanf(word, "%d", &sec); n == 1 {
			now += sec * 1000
			continue
		}
		switch agent := hub.AgentID(word[1:]); {
		case strings.HasPrefix(word, "!@"):
			c.interrupt(placeOf("", "", hub.ChannelName(word[2:]), ""))
			continue
		case word[0] == '+', word[0] == '!':
			c.progress(agent)
			continue
		}
		from, to, direct := strings.Cut(word, ">")
		if direct {
			hops = c.posted(placeOf(hub.AgentID(from), hub.AgentID(to), "", ""), saying(from, to, "x"), now)
			continue
		}
		from, where, _ := strings.Cut(word, "@")
		channel, thread, _ := strings.Cut(where, "/")
		hops = c.posted(placeOf("", "", hub.ChannelName(channel), hub.ThreadID(thread)), saying(from, "", "x"), now)
	}
	return hops
}

// What is a hop, and what begins a new chain.
func TestHops(t *testing.T) {
	for _, tt := range []struct {
		script string
		hops   int
	}{
		{"a>b", 1},
		{"a>b b>a a>b b>a", 4},
		{"a>b a>b a>b", 1}, // only turns count
		{"a>b a>b b>a b>a a>b", 3},
		{"a>b b>a 599 a>b", 3},
		{"a>b b>a 600 a>b", 1}, // a pause
		{"a>b b>a +a a>b", 1},
		{"a>b b>a +c a>b", 3}, // what others do is no progress of these
		{"a>b b>a !b a>b", 1},
		{"a>b b>a c>a a>b", 1}, // another agent
		{"a>b c>d b>a d>c a>b", 3},
		{"a>b b>a a>c a>b", 3}, // what one of them writes to another is none
		{"a>b b>a a@x a>b", 3},
		{"a@x b@x a@x b@x", 4},
		{"a@x b@x c@x a@x b@x c@x", 5}, // three in a circle
		{"a@x b@x c@x d@x", 1},         // a fourth one
		{"a@x b@x a@x b@x c@x", 1},     // one that comes late is another agent
		{"a@x b@x !@x a@x", 1},
		{"a@x b@x +b a@x", 1},
		{"a@x b@x +z a@x", 3},
		{"a@x/1 b@x/1 c@x c@x/2 a@x/1", 3}, // threads are places of their own
		{"a@x b@y a@x", 1},
		{"a>a a>a", 1},
	} {
		if got := said(t, tt.script); got != tt.hops {
			t.Errorf("%s: %d hops, want %d", tt.script, got, tt.hops)
		}
	}
}

// turns has two agents say something in turn, a second apart or as long as they are told, until
// they are stopped or told to wait for more than a minute. It returns what the waits were.
func turns(c *chains, l limits, most int, text func(i int) string) (posted int, waits []int64, last verdict) {
	now, agents, p := int64(1), []string{"a", "b"}, placeOf("a", "b", "", "")
	for posted < most {
		t := saying(agents[posted%2], agents[(posted+1)%2], text(posted))
		last = c.enter(p, t, now, l)
		switch {
		case last.stop, last.wait > longestMS:
			return posted, waits, last
		case last.wait > 0:
			waits = append(waits, last.wait)
			now += last.wait
			continue
		}
		c.posted(p, t, now)
		c.leave(p, t.from)
		posted++
		now += 1000
	}
	return posted, waits, last
}

func always(text string) func(int) string { return func(int) string { return text } }

// numbered texts have no words in common.
func numbered(i int) string { return strings.Repeat(string(rune('a'+i%26)), 2+i/26) + " one" }

// The stages of a chain: it passes, is slowed, and its words rest or it is stopped. Only what
// repeats is slowed, or what comes fast.
func TestStages(t *testing.T) {
	if l := stopAt(12); l != (limits{tell: 6, slow: 8, stop: 12}) || limitsOf(nil) != usual || stopAt(0).watched() || stopAt(5).slow != 0 {
		t.Errorf("the limits are %+v", l)
	}
	for name, tt := range map[string]struct {
		l      limits
		text   func(int) string
		posted int
		waits  []int64
		last   verdict
	}{
		"repeats":          {usual, always("Thanks!"), 11, []int64{4000, 9000, 19_000}, verdict{wait: 299_000, why: whyRepeats}},
		"repeats, stopped": {stopAt(12), always("Thanks!"), 12, []int64{4000, 9000, 19_000, 39_000}, verdict{stop: true}},
		"stopped early":    {stopAt(4), numbered, 4, nil, verdict{stop: true}},
		"not watched":      {stopAt(0), always("Thanks!"), 500, nil, verdict{}},
	} {
		c := newChains()
		posted, waits, last := turns(c, tt.l, 500, tt.text)
		if posted != tt.posted || !slices.Equal(waits, tt.waits) || last != tt.last {
			t.Errorf("%s: %d posts, waits %v, then %+v", name, posted, waits, last)
		}
	}
	c := newChains()
	turns(c, usual, 500, always("Thanks!"))
	p := placeOf("a", "b", "", "")
	now := c.at(p, 1).restUntil
	if v := c.enter(p, saying("b", "a", "Thanks!"), now, usual); v != (verdict{}) {
		t.Errorf("after the first rest: %+v", v)
	}
	c.posted(p, saying("b", "a", "Thanks!"), now)
	c.leave(p, "b")
	if v := c.enter(p, saying("a", "b", "Thanks!"), now, usual); v.wait != restMS {
		t.Errorf("the second rest: %+v", v)
	}
	now = c.at(p, now).restUntil
	for text, want := range map[string]bool{"Thanks!": false, "The parser drops the last comma": true} {
		if v := c.enter(p, saying("b", "a", text), now-1, usual); (v == verdict{}) != want {
			t.Errorf("%q before the hour is over: %+v", text, v)
		}
		c.leave(p, "b")
	}
	if v := c.enter(p, saying("b", "a", "Thanks!"), now, usual); v != (verdict{}) {
		t.Errorf("after an hour: %+v", v)
	}
	c.progress("a")
	if v := c.enter(p, saying("b", "a", "Thanks!"), 1, usual); v != (verdict{}) {
		t.Errorf("after progress: %+v", v)
	}
}

// What comes fast waits until five seconds after the post before, and after each hundred turns
// twice as long, at most a minute. It is never refused.
func TestFastChainIsSlowed(t *testing.T) {
	posted, waits, last := turns(newChains(), usual, 600, numbered)
	if posted != 600 || last != (verdict{}) {
		t.Errorf("%d posts, then %+v", posted, last)
	}
	if first, longest := waits[0], slices.Max(waits); first != 4000 || longest != 59_000 {
		t.Errorf("the first wait is %d, the longest %d", first, longest)
	}
	c, p, agents := newChains(), placeOf("a", "b", "", ""), []string{"a", "b"}
	for i := range 80 { // two at once, then a while nothing
		now := int64(1 + i/2*12_000 + i%2*500)
		one := saying(agents[i%2], agents[(i+1)%2], numbered(i))
		if v := c.enter(p, one, now, usual); v != (verdict{}) {
			t.Fatalf("turn %d: %+v", i, v)
		}
		c.posted(p, one, now)
		c.leave(p, one.from)
	}
}

// Agents go in a circle if both say the same or nearly the same, if each repeats its own words, or
// if one says what the other has said. One that gets new answers to its old words does not.
func TestCircles(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b func(i int) string
		want bool
	}{
		"thanks":       {always("Thank you!"), always("Thank you!"), true},
		"ping, pong":   {always("ping"), always("pong"), true},
		"counted":      {func(i int) string { return fmt.Sprint("Still waiting, try ", i) }, func(i int) string { return fmt.Sprint("still waiting; try #", i*7) }, true},
		"phrases":      {func(i int) string { return []string{"Great work", "Well done", "Nice job"}[i%3] }, always("Glad to help"), true},
		"one is new":   {numbered, always("It still fails with code 3"), false},
		"acknowledged": {numbered, always("ok"), false},
		"both are new": {numbered, func(i int) string { return "reply " + numbered(i+200) }, false},
	} {
		c, p := newChains(), placeOf("a", "b", "", "")
		for i := range 30 {
			c.posted(p, saying("a", "b", tt.a(i)), int64(i))
			c.posted(p, saying("b", "a", tt.b(i)), int64(i))
		}
		if got := c.at(p, 30).circling(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	c, p := newChains(), placeOf("a", "b", "", "")
	for i := range 30 { // an agent says what it is told
		c.posted(p, saying("a", "b", numbered(i)), int64(i))
		c.posted(p, saying("b", "a", numbered(i)), int64(i))
	}
	if !c.at(p, 30).circling() {
		t.Error("an echo is not found")
	}
}

// TestChainProperties: whatever agents post at once, and in whichever order it is
// committed, no chain has more hops than it may, nothing passes while it rests, and one that paused
// or showed progress is never refused.
func TestChainProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, now := newChains(), int64(1)
		l := stopAt(rapid.IntRange(hub.MinGuardHops, 20).Draw(t, "stop"))
		same := rapid.Bool().Draw(t, "same") // they repeat themselves, where nothing is stopped
		if same {
			l = usual
		}
		agents := []hub.AgentID{"a", "b", "c", "d"}
		type post struct {
			p place
			*turn
		}
		var under []post
		pick := func(t *rapid.T) post {
			from := rapid.SampledFrom(agents).Draw(t, "from")
			to := rapid.SampledFrom(append([]hub.AgentID{""}, agents[:2]...)).Draw(t, "to")
			text := "same"
			if !same {
				text = rapid.StringMatching("[a-c]{1,3}").Draw(t, "text")
			}
			return post{placeOf(from, to, "x", ""), saying(string(from), string(to), text)}
		}
		t.Repeat(map[string]func(*rapid.T){
			"time":     func(t *rapid.T) { now += rapid.Int64Range(1, 70_000).Draw(t, "ms") },
			"progress": func(t *rapid.T) { c.progress(rapid.SampledFrom(agents).Draw(t, "who")) },
			"enter": func(t *rapid.T) {
				p := pick(t)
				if slices.ContainsFunc(under, func(u post) bool { return u.from == p.from && u.p == p.p }) {
					return
				}
				ch := c.at(p.p, now)
				r := ch.repeats(p.turn)
				rests := ch.restUntil > now && r.same && ch.same() && ch.binds(p.turn, r) && (p.to != "" || slices.Contains(ch.agents, p.from))
				if c.enter(p.p, p.turn, now, l) == (verdict{}) {
					if rests {
						t.Fatalf("%+v passes while its words rest", p)
					}
					under = append(under, p)
				}
			},
			"commit": func(t *rapid.T) {
				if len(under) == 0 {
					return
				}
				i := rapid.IntRange(0, len(under)-1).Draw(t, "which")
				p := under[i]
				under = slices.Delete(under, i, i+1)
				if rapid.IntRange(0, 5).Draw(t, "fails") > 0 {
					hops := c.posted(p.p, p.turn, now)
					if most := l.of(c.at(p.p, now)).stop; most > 0 && hops > most {
						t.Fatalf("%+v: %d hops of %d", p.turn.from, hops, most)
					}
				}
				c.leave(p.p, p.from)
			},
			"fresh": func(t *rapid.T) {
				p := pick(t)
				c.progress("a")
				c.progress("b")
				v := c.enter(p.p, p.turn, now, l)
				if p.to != "" && p.from != "c" && p.from != "d" && v.stop {
					t.Fatalf("%+v is stopped after progress", p)
				}
				if v == (verdict{}) {
					c.leave(p.p, p.from)
				}
			},
		})
	})
}

// What is kept is bounded.
func TestChainsAreBounded(t *testing.T) {
	c := newChains()
	for i := range 3 * maxChains {
		a, b := hub.AgentID(fmt.Sprint("a", i)), hub.AgentID(fmt.Sprint("b", i))
		p := placeOf(a, b, "", "")
		one := &turn{from: a, to: b}
		c.enter(p, one, 1, stopAt(12))
		c.posted(p, one, 1)
		c.leave(p, a)
	}
	p := placeOf("a", "b", "", "")
	for i := range 100 {
		c.posted(p, saying([]string{"a", "b"}[i%2], []string{"b", "a"}[i%2], numbered(i)), 1)
	}
	if n := len(c.at(p, 1).recent); n != maxRecent {
		t.Errorf("%d posts of a chain are kept", n)
	}
	if c.known.Len() > maxChains || c.acts.Len() > maxChains {
		t.Errorf("%d chains and %d agents are kept", c.known.Len(), c.acts.Len())
	}
}
