package guard

import (
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

const (
	maxChains = 1_000   // places that are kept, and agents of which is kept what they did
	maxAgents = 3       // agents of a chain in a channel
	forming   = 4       // hops after which no agent joins a chain
	pauseMS   = 600_000 // a chain ends when nothing comes for so long
	retryMS   = 1_000   // after which a post may be repeated while others are under way
)

// place is where agents post to each other.
type place struct {
	channel hub.ChannelName // empty: direct messages between first and second
	thread  hub.ThreadID
	first   hub.AgentID
	second  hub.AgentID
	ring    string // the agents of a ring, where three or more hand direct messages on
}

// placeOf returns the place of a message; to is empty in a channel.
func placeOf(from, to hub.AgentID, channel hub.ChannelName, thread hub.ThreadID) place {
	if to == "" {
		return place{channel: channel, thread: thread}
	}
	return place{first: min(from, to), second: max(from, to)}
}

// chain is what was posted at a place since progress was last shown.
type chain struct {
	agents []hub.AgentID // in the order in which they came
	last   hub.AgentID   // whose message is the last
	hops   int
	at     int64   // hub ms of the last message
	tick   uint64  // of the last message
	recent []entry // the last posts, the newest last
	// circleFrom are the hops at which the chain began to go in a circle; 0: it does not.
	circleFrom int
	restUntil  int64 // hub ms until which the same words do not pass; 0: that was not said
	rests      int   // rests that are over, since circleFrom
	told       bool
	asked      bool
	pending    map[hub.AgentID]int // posts under way
}

// acts is what is known of one agent, in ticks.
type acts struct {
	progress uint64
	from     hub.AgentID // the sender of the last direct message to it
	got      uint64      // when that was
	other    uint64      // the last one of anybody else
}

// chains counts. It has no lock and no clock.
type chains struct {
	tick  uint64
	known *bounded.Map[place, *chain]
	acts  *bounded.Map[hub.AgentID, acts]
	// batons are direct messages that are handed on, by the agent that got the last one.
	batons *bounded.Map[hub.AgentID, *baton]
}

func newChains() *chains {
	return &chains{
		known: bounded.New[place, *chain](maxChains), acts: bounded.New[hub.AgentID, acts](maxChains),
		batons: bounded.New[hub.AgentID, *baton](maxChains),
	}
}

// at returns the chain of a place. One that has ended begins anew.
func (c *chains) at(p place, now int64) *chain {
	if p.ring != "" {
		b := c.ring(p)
		if b == nil || c.held(b.holder, now) == nil {
			return &chain{}
		}
		return &b.chain
	}
	ch, known := c.known.Get(p)
	if !known {
		ch = &chain{}
		c.known.Put(p, ch)
	}
	if ch.hops > 0 && c.ended(p, ch, now) {
		c.begin(ch)
	}
	return ch
}

// begin empties a chain. What is under way stays so.
func (c *chains) begin(ch *chain) { *ch = chain{pending: ch.pending} }

// ended reports whether a chain has paused, or something came between. While its words rest it
// does not pause.
func (c *chains) ended(p place, ch *chain, now int64) bool {
	if now-ch.at >= pauseMS && now >= ch.restUntil {
		return true
	}
	for _, agent := range ch.agents {
		if a, _ := c.acts.Get(agent); a.progress > ch.tick {
			return true
		}
	}
	return p.channel == "" && p.ring == "" && (c.heard(p.first, p.second) > ch.tick || c.heard(p.second, p.first) > ch.tick)
}

// heard returns when an agent was last written to by anybody but a peer.
func (c *chains) heard(agent, peer hub.AgentID) uint64 {
	a, _ := c.acts.Get(agent)
	if a.from == peer {
		return a.other
	}
	return a.got
}

// progress notes that an agent has shown progress, or that the operator wrote to it.
func (c *chains) progress(agent hub.AgentID) {
	if agent == "" || agent.Reserved() {
		return
	}
	c.tick++
	a, _ := c.acts.Get(agent)
	a.progress = c.tick
	c.acts.Put(agent, a)
}

// interrupt notes that the operator wrote at a place.
func (c *chains) interrupt(p place) {
	if p.ring != "" {
		if b := c.ring(p); b != nil {
			c.batons.Delete(b.holder)
		}
		return
	}
	if ch, known := c.known.Get(p); known {
		c.begin(ch)
	}
}

// posted counts a committed message and returns the hops of its chain.
func (c *chains) posted(p place, t *turn, now int64) int {
	c.tick++
	from := t.from
	if t.to != "" {
		c.receive(t.to, from)
	}
	ch := c.at(p, now)
	if !slices.Contains(ch.agents, from) {
		if p.channel != "" && (len(ch.agents) >= maxAgents || ch.hops >= forming) {
			c.begin(ch) // another agent came between
		}
		ch.agents = append(ch.agents, from)
		ch.hops, ch.circleFrom = min(ch.hops, 1), 0 // what others said before is not theirs alone
	}
	if ch.last != from {
		ch.hops++
	}
	ch.last, ch.at, ch.tick = from, now, c.tick
	ch.note(t, now)
	return ch.hops
}

func (c *chains) receive(agent, from hub.AgentID) {
	a, _ := c.acts.Get(agent)
	if a.from != from {
		a.from, a.other = from, a.got
	}
	a.got = c.tick
	c.acts.Put(agent, a)
}

// verdict is what becomes of a post.
type verdict struct {
	stop bool
	wait int64 // ms until it may be repeated; 0: it passes
	why  why   // it waits; empty: posts that are under way may be the last ones
}

// enter decides about a post that is to be made, and counts it as under way if it passes.
// Whatever is committed in which order, no chain has more hops than l.stop, as long as
// each agent of a channel has one post under way.
func (c *chains) enter(p place, t *turn, now int64, l limits) verdict {
	ch := c.at(p, now)
	if l.watched() && (p.channel == "" || slices.Contains(ch.agents, t.from)) {
		if v := ch.judge(t, ch.underway(p), now, l.of(ch)); v != (verdict{}) {
			return v
		}
	}
	if ch.pending == nil {
		ch.pending = map[hub.AgentID]int{}
	}
	ch.pending[t.from]++
	return verdict{}
}

// judge decides about the next turn of a chain while so many posts are under way.
func (ch *chain) judge(t *turn, under int, now int64, l limits) verdict {
	if l.stop > 0 && ch.hops >= l.stop {
		return verdict{stop: true}
	}
	next, reason := ch.next(t, now, l)
	wait := max(0, next-now)
	if next > 0 && under > 0 || l.stop > 0 && ch.hops+under+1 > l.stop && under > ch.pending[t.from] {
		wait = max(wait, retryMS)
	}
	if wait == 0 {
		return verdict{}
	}
	return verdict{wait: wait, why: reason}
}

// underway counts the posts of the chain's agents that are under way.
func (ch *chain) underway(p place) (n int) {
	for agent, posts := range ch.pending {
		if p.channel == "" || slices.Contains(ch.agents, agent) {
			n += posts
		}
	}
	return n
}

// leave ends what enter has begun.
func (c *chains) leave(p place, from hub.AgentID) {
	ch, known := c.known.Get(p)
	if !known {
		return
	}
	if ch.pending[from]--; ch.pending[from] <= 0 {
		delete(ch.pending, from)
	}
}

// loop is the chain as the operator is told of it.
func (ch *chain) loop(p place) core.Loop {
	return core.Loop{Agents: ch.sorted(), Channel: p.channel, Thread: p.thread, Hops: ch.hops}
}

// sorted returns the agents of the chain in the order of their names.
func (ch *chain) sorted() []hub.AgentID { return slices.Sorted(slices.Values(ch.agents)) }
