package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// round plays a script of direct messages on fresh chains and returns the hops and the agents of
// the baton that the last one hands on; 0 if it hands none on. A word is from>to, +agent
// (progress), !agent (the operator writes to it), or a number of seconds that pass.
func round(t *testing.T, script string) string {
	t.Helper()
	c, now := newChains(), int64(1)
	var b *baton
	for _, word := range strings.Fields(script) {
		var sec int64
		if n, _ := fmt.Sscanf(word, "%d", &sec); n == 1 {
			now += sec * 1000
			continue
		}
		if word[0] == '+' || word[0] == '!' {
			c.progress(hub.AgentID(word[1:]))
			continue
		}
		from, to, _ := strings.Cut(word, ">")
		one := saying(from, to, "x")
		b = c.handed(one, now)
		c.posted(placeOf(one.from, one.to, "", ""), one, now)
	}
	if b == nil {
		return "none"
	}
	return fmt.Sprint(b.hops, " ", b.place().ring)
}

// What goes in a ring, and what begins a new one.
func TestRings(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{"a>b", "1 a,b"},
		{"a>b b>a", "none"}, // an answer
		{"a>b b>a a>b b>a a>b", "none"},
		{"a>b b>c c>a a>b b>c", "5 a,b,c"},
		{"a>b b>c c>d d>a a>b", "5 a,b,c,d"},
		{"a>b b>a b>c c>b c>a a>b", "4 a,b,c"}, // each answers, and hands on
		{"a>b b>c c>a a>b a>b b>c", "5 a,b,c"}, // said twice
		{"a>b b>c c>a b>a a>b", "4 a,b,c"},     // one speaks between
		{"a>b b>c c>a +b a>b", "1 a,b"},
		{"a>b b>c c>a !c a>b", "1 a,b"},
		{"a>b b>c c>a +z a>b", "4 a,b,c"},
		{"a>b b>c c>a 599 a>b", "4 a,b,c"},
		{"a>b b>c c>a 600 a>b", "1 a,b"},
		{"a>b b>c c>a z>a a>b", "2 a,b,z"}, // another agent writes to its holder
		{"a>b b>c c>a z>b a>b", "1 a,b"},   // or to one of the others
		{"a>b b>c c>a a>d", "1 a,d"},       // one that comes late
		{"a>b b>c c>d d>e e>f f>g g>h h>i", "1 h,i"},
		{"a>b b>c c>d d>e e>f f>g g>h h>a", "8 a,b,c,d,e,f,g,h"},
		{"a>b c>d b>c d>e c>a", "3 a,b,c"},
		{"a>a", "none"},
	} {
		if got := round(t, tt.script); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.script, got, tt.want)
		}
	}
}

// handRound hands a text on in a ring of so many agents, a second apart or as long as they are told,
// until they are stopped or have to wait for more than a minute.
func handRound(c *chains, n int, l limits, most int, text func(i int) string) (posted, waited int, now int64, last verdict) {
	now = 1
	for posted < most {
		t := saying(fmt.Sprint("a", posted%n), fmt.Sprint("a", (posted+1)%n), text(posted))
		if b := c.handing(t.from, t.to, now); b != nil {
			last = c.enterRing(b.place(), t, now, l)
		}
		switch {
		case last.stop, last.wait > longestMS:
			return posted, waited, now, last
		case last.wait > 0:
			waited++
			now += last.wait
			continue
		}
		c.handed(t, now)
		c.posted(placeOf(t.from, t.to, "", ""), t, now)
		posted++
		now += 10_000
	}
	return posted, waited, now, last
}

// A ring whose agents say something new is not refused. Where the operator wants it, it is
// stopped after as many hops for each of its agents as two agents have. One that repeats itself
// ends as early as two agents do, whatever it is. Each goes on after progress.
func TestRingStages(t *testing.T) {
	for n := 3; n <= maxRing; n++ {
		if posted, waited, _, last := handRound(newChains(), n, usual, 120, numbered); posted != 120 || waited > 0 || last != (verdict{}) {
			t.Errorf("%d agents: %d posts, %d waits, then %+v", n, posted, waited, last)
		}
		c := newChains()
		posted, _, now, last := handRound(c, n, stopAt(12), 300, numbered)
		if posted != 12*n || !last.stop {
			t.Errorf("%d agents: %d posts, then %+v", n, posted, last)
		}
		agent := func(i int) string { return fmt.Sprint("a", (posted+i)%n) }
		p := c.handing(hub.AgentID(agent(0)), hub.AgentID(agent(1)), now).place()
		if v := c.enterRing(p, saying(agent(0), agent(n-1), "x"), now, stopAt(12)); v.stop {
			t.Errorf("%d agents: an answer is stopped", n)
		}
		c.progress(hub.AgentID(agent(1)))
		if v := c.enterRing(p, saying(agent(0), agent(1), "x"), now, stopAt(12)); v != (verdict{}) {
			t.Errorf("%d agents after progress: %+v", n, v)
		}
		c = newChains()
		posted, waited, now, last := handRound(c, n, usual, 300, always("over to you"))
		if want := max(11, n); posted != want || waited == 0 || last.wait <= longestMS {
			t.Errorf("%d agents that repeat themselves: %d posts, %d waits, then %+v", n, posted, waited, last)
		}
		if v := c.enterRing(p, saying(agent(0), agent(1), "x"), now+restMS, usual); v != (verdict{}) {
			t.Errorf("%d agents after an hour: %+v", n, v)
		}
	}
}

// TestRingProperties: whatever agents write to each other, an agent holds one baton at most, a
// ring has no more agents than it may, no more hops than it may, and is bounded in memory.
func TestRingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, l, now := newChains(), stopAt(hub.MinGuardHops), int64(1)
		agents := []hub.AgentID{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}[:rapid.IntRange(3, 10).Draw(t, "agents")]
		for range rapid.IntRange(1, 200).Draw(t, "posts") {
			now += rapid.Int64Range(0, 30_000).Draw(t, "ms")
			from, to := rapid.SampledFrom(agents).Draw(t, "from"), rapid.SampledFrom(agents).Draw(t, "to")
			one := saying(string(from), string(to), "x")
			if b := c.handing(from, to, now); b != nil && c.enterRing(b.place(), one, now, l) != (verdict{}) {
				continue
			}
			b := c.handed(one, now)
			c.posted(placeOf(from, to, "", ""), one, now)
			if b == nil {
				continue
			}
			distinct := slices.Compact(slices.Sorted(slices.Values(b.agents)))
			if len(b.agents) > maxRing || len(distinct) != len(b.agents) || b.hops > max(l.stop*len(b.agents), maxRing) || b.holder != to || !slices.Contains(b.agents, to) {
				t.Fatalf("%s to %s: %+v", from, to, b)
			}
			if c.ring(b.place()) == nil {
				t.Fatalf("%+v is not found", b)
			}
		}
		if c.batons.Len() > len(agents) {
			t.Fatalf("%d batons", c.batons.Len())
		}
	})
}
