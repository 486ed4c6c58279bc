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
		b = c.handed(hub.AgentID(from), hub.AgentID(to), now)
		c.posted(placeOf(hub.AgentID(from), hub.AgentID(to), "", ""), hub.AgentID(from), hub.AgentID(to), now)
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

// A ring passes, is slowed and is stopped after as many hops for each of its agents as two
// agents have, and it goes on after progress.
func TestRingStages(t *testing.T) {
	for n := 3; n <= maxRing; n++ {
		c, l, now := newChains(), limitsOf(hub.DefaultGuardHops), int64(1)
		var agents []hub.AgentID
		for i := range n {
			agents = append(agents, hub.AgentID(fmt.Sprint("a", i)))
		}
		ring, waited := ringOf(agents), 0
		for hops := range n * l.stop {
			from, to := agents[hops%n], agents[(hops+1)%n]
			v := c.enterRing(ring, from, to, now, l)
			if v.wait > 0 {
				waited++
				if now += v.wait - 1; c.enterRing(ring, from, to, now, l).wait != 1 {
					t.Errorf("%d agents, hop %d: a moment too early", n, hops)
				}
				now++
				v = c.enterRing(ring, from, to, now, l)
			}
			if v != (verdict{}) {
				t.Fatalf("%d agents, hop %d: %+v", n, hops, v)
			}
			c.handed(from, to, now)
			c.posted(placeOf(from, to, "", ""), from, to, now)
		}
		if waited != n*(l.stop-l.slow) {
			t.Errorf("%d agents wait %d times", n, waited)
		}
		if v := c.enterRing(ring, agents[0], agents[1], now, l); !v.stop {
			t.Errorf("%d agents after %d hops: %+v", n, n*l.stop, v)
		}
		if v := c.enterRing(ring, agents[0], agents[n-1], now, l); v.stop {
			t.Errorf("%d agents: an answer is stopped", n)
		}
		c.progress(agents[1])
		if v := c.enterRing(ring, agents[0], agents[1], now, l); v != (verdict{}) {
			t.Errorf("%d agents after progress: %+v", n, v)
		}
	}
}

// TestRingProperties: whatever agents write to each other, an agent holds one baton at most, a
// ring has no more agents than it may, no more hops than it may, and is bounded in memory.
func TestRingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, l, now := newChains(), limitsOf(hub.MinGuardHops), int64(1)
		agents := []hub.AgentID{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}[:rapid.IntRange(3, 10).Draw(t, "agents")]
		for range rapid.IntRange(1, 200).Draw(t, "posts") {
			now += rapid.Int64Range(0, 30_000).Draw(t, "ms")
			from, to := rapid.SampledFrom(agents).Draw(t, "from"), rapid.SampledFrom(agents).Draw(t, "to")
			if b := c.handing(from, to, now); b != nil && c.enterRing(b.place(), from, to, now, l) != (verdict{}) {
				continue
			}
			b := c.handed(from, to, now)
			c.posted(placeOf(from, to, "", ""), from, to, now)
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
