package guard

import (
	"slices"
	"strings"

	"hubcli/hub"
)

// maxRing bounds the agents of a ring. What more agents hand on is work that is passed along.
const maxRing = 8

// baton is a direct message that agents hand on: each writes to another one than the agent
// that wrote to it. Where the agents come again, it goes in a ring. Its holder got the last
// message, and an agent holds one baton at most.
type baton struct {
	chain
	holder hub.AgentID
}

// ringOf returns the place of a ring of these agents.
func ringOf(agents []hub.AgentID) place {
	names := make([]string, len(agents))
	for i, agent := range slices.Sorted(slices.Values(agents)) {
		names[i] = string(agent)
	}
	return place{ring: strings.Join(names, ringMark)}
}

// ringMark separates the agents of a ring: no agent id has it.
const ringMark = ","

// agents returns the agents of direct messages.
func (p place) agents() []hub.AgentID {
	if p.ring == "" {
		return []hub.AgentID{p.first, p.second}
	}
	var all []hub.AgentID
	for name := range strings.SplitSeq(p.ring, ringMark) {
		all = append(all, hub.AgentID(name))
	}
	return all
}

// turned reports whether the baton has come to an agent a second time.
func (b *baton) turned() bool { return b.hops >= len(b.agents) }

// place is that of the baton's ring.
func (b *baton) place() place { return ringOf(b.agents) }

// held returns the baton of an agent, nil if it has none or if something came between.
func (c *chains) held(agent hub.AgentID, now int64) *baton {
	b, known := c.batons.Get(agent)
	if !known {
		return nil
	}
	over := c.ended(place{ring: ringMark}, &b.chain, now)
	for _, agent := range b.agents { // another agent wrote to one of them
		a, _ := c.acts.Get(agent)
		over = over || a.got > b.tick && !slices.Contains(b.agents, a.from)
	}
	if over {
		c.batons.Delete(agent)
		return nil
	}
	return b
}

// handing returns the baton that a direct message would hand on, nil if it would begin a new one:
// its sender has none, or the recipient is not of its ring.
func (c *chains) handing(from, to hub.AgentID, now int64) *baton {
	b := c.held(from, now)
	if b == nil || b.last == to || !slices.Contains(b.agents, to) && (b.turned() || len(b.agents) == maxRing) {
		return nil
	}
	return b
}

// handed counts a committed direct message, before posted does, and returns the baton that goes
// on with it; nil if none does. An answer to the agent that a message came from hands nothing on, and neither
// does what an agent writes to one of its ring that has a baton.
func (c *chains) handed(t *turn, now int64) *baton {
	from, to := t.from, t.to
	if b := c.held(from, now); b != nil && b.last == to || from == to {
		return nil
	}
	b := c.handing(from, to, now)
	if other := c.held(to, now); other != nil && slices.Contains(other.agents, from) && (b == nil || b.hops < other.hops) {
		return nil
	}
	if b == nil {
		b = &baton{chain: chain{agents: []hub.AgentID{from}}}
	} else {
		c.batons.Delete(from)
	}
	if !slices.Contains(b.agents, to) {
		b.agents = append(b.agents, to)
	}
	b.hops++
	b.last, b.holder, b.at, b.tick = from, to, now, c.tick+1 // posted gives it this one
	b.note(t, now)
	c.batons.Put(to, b)
	return b
}

// ring returns the baton of a ring that was handed on most often, nil if there is none.
func (c *chains) ring(p place) (most *baton) {
	for _, b := range c.batons.Values() {
		if b.place() == p && (most == nil || b.hops > most.hops) {
			most = b
		}
	}
	return most
}

// enterRing decides about a post that would hand a baton of the ring on.
func (c *chains) enterRing(p place, t *turn, now int64, l limits) verdict {
	b := c.handing(t.from, t.to, now)
	if b == nil || !l.watched() || !slices.Contains(b.agents, t.to) || b.place() != p {
		return verdict{}
	}
	return b.judge(t, 0, now, l.of(&b.chain))
}
