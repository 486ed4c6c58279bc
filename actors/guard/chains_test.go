package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

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
			hops = c.posted(placeOf(hub.AgentID(from), hub.AgentID(to), "", ""), hub.AgentID(from), hub.AgentID(to), now)
			continue
		}
		from, where, _ := strings.Cut(word, "@")
		channel, thread, _ := strings.Cut(where, "/")
		hops = c.posted(placeOf("", "", hub.ChannelName(channel), hub.ThreadID(thread)), hub.AgentID(from), "", now)
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

// The stages of a chain: it passes, is slowed, and is stopped.
func TestStages(t *testing.T) {
	c, l := newChains(), limitsOf(hub.DefaultGuardHops)
	if l != (limits{tell: 6, slow: 8, stop: 12}) {
		t.Errorf("the limits are %+v", l)
	}
	now, agents := int64(1), []hub.AgentID{"a", "b"}
	p := placeOf("a", "b", "", "")
	var waits []int64
	for hops := range 12 {
		from, to := agents[hops%2], agents[(hops+1)%2]
		v := c.enter(p, from, now, l)
		if v.wait > 0 {
			waits = append(waits, v.wait)
			now += v.wait - 1
			if early := c.enter(p, from, now, l); early.wait != 1 {
				t.Errorf("hop %d, a moment too early: %+v", hops, early)
			}
			now++
			v = c.enter(p, from, now, l)
		}
		if v != (verdict{}) {
			t.Fatalf("hop %d: %+v", hops, v)
		}
		c.posted(p, from, to, now)
		c.leave(p, from)
	}
	if !slices.Equal(waits, []int64{5000, 10_000, 20_000, 40_000}) {
		t.Errorf("the waits are %v", waits)
	}
	for _, from := range agents {
		if v := c.enter(p, from, now, l); !v.stop {
			t.Errorf("%s after 12 hops: %+v", from, v)
		}
	}
	if v := c.enter(p, "a", now, limitsOf(0)); v != (verdict{}) {
		t.Errorf("without a guard: %+v", v)
	}
	c.progress("a")
	if v := c.enter(p, "b", now, l); v != (verdict{}) {
		t.Errorf("after progress: %+v", v)
	}
}

// TestChainProperties: whatever agents post at once, and in whichever order it is
// committed, no chain has more hops than it may, and one that paused or showed progress is
// never refused.
func TestChainProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, now := newChains(), int64(1)
		l := limitsOf(rapid.IntRange(hub.MinGuardHops, 20).Draw(t, "stop"))
		agents := []hub.AgentID{"a", "b", "c", "d"}
		type post struct {
			p        place
			from, to hub.AgentID
		}
		var under []post
		pick := func(t *rapid.T) post {
			from := rapid.SampledFrom(agents).Draw(t, "from")
			to := rapid.SampledFrom(append([]hub.AgentID{""}, agents[:2]...)).Draw(t, "to")
			return post{placeOf(from, to, "x", ""), from, to}
		}
		t.Repeat(map[string]func(*rapid.T){
			"time":     func(t *rapid.T) { now += rapid.Int64Range(1, 70_000).Draw(t, "ms") },
			"progress": func(t *rapid.T) { c.progress(rapid.SampledFrom(agents).Draw(t, "who")) },
			"enter": func(t *rapid.T) {
				p := pick(t)
				if slices.ContainsFunc(under, func(u post) bool { return u.from == p.from && u.p == p.p }) {
					return
				}
				if c.enter(p.p, p.from, now, l) == (verdict{}) {
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
					if hops := c.posted(p.p, p.from, p.to, now); hops > l.stop {
						t.Fatalf("%+v: %d hops of %d", p, hops, l.stop)
					}
				}
				c.leave(p.p, p.from)
			},
			"fresh": func(t *rapid.T) {
				p := pick(t)
				c.progress("a")
				c.progress("b")
				v := c.enter(p.p, p.from, now, l)
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
		c.enter(p, a, 1, limitsOf(12))
		c.posted(p, a, b, 1)
		c.leave(p, a)
	}
	if c.known.Len() > maxChains || c.acts.Len() > maxChains {
		t.Errorf("%d chains and %d agents are kept", c.known.Len(), c.acts.Len())
	}
}
