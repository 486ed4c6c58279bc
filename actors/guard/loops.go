package guard

import (
	"cmp"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// seen is a chain as it was at one moment.
type seen struct {
	place place
	chain chain
	stop  *stop
}

// Loops lists the chains of which the agents were told, and what is stopped, the furthest
// first; at most hub.MaxLoops. Where the operator has ended the watch, every post passes, so
// nothing is listed.
func (g *Guard) Loops() []hub.Loop {
	now := g.engine.Clock.Now()
	out := []hub.Loop{}
	for _, s := range g.grown(now) {
		l := g.limits(s.place).of(&s.chain)
		if s.stop != nil && !s.stop.binds(l) {
			s.stop = nil // its posts pass
		}
		if !l.watched() || s.stop == nil && s.chain.hops < l.tell {
			continue
		}
		out = append(out, s.loop(l, now, g.view.RoomOf(s.place.channel)))
	}
	slices.SortFunc(out, func(a, b hub.Loop) int {
		return cmp.Or(cmp.Compare(stageOrder(b.Stage), stageOrder(a.Stage)), cmp.Compare(b.Turns, a.Turns), slices.Compare(a.Agents, b.Agents))
	})
	return out[:min(len(out), hub.MaxLoops)]
}

// grown copies the chains that may have come so far that their agents were told, and those
// that are stopped.
func (g *Guard) grown(now core.Now) (all []seen) {
	g.mu.Lock()
	defer g.mu.Unlock()
	add := func(p place, ch *chain) {
		if _, stopped := g.stops[p]; !stopped && ch.hops >= leastTold.of(ch).tell && !g.chains.ended(p, ch, now.HubMS) {
			all = append(all, seen{place: p, chain: ch.copied()})
		}
	}
	for p, ch := range g.chains.known.All() {
		add(p, ch)
	}
	rings := map[place]bool{}
	for _, b := range g.chains.batons.All() {
		if p := b.place(); b.turned() && !rings[p] {
			rings[p] = true
			add(p, &g.chains.ring(p).chain)
		}
	}
	for p := range g.stops {
		s, held := g.held(p, now.HubMS)
		if !held {
			continue
		}
		ch := chain{}
		if found, known := g.chains.known.Get(p); known {
			ch = found.copied()
		} else if b := g.chains.ring(p); b != nil {
			ch = b.copied()
		}
		ch.agents = s.agents
		all = append(all, seen{place: p, chain: ch, stop: &s})
	}
	return all
}

// copied is a copy that the mutex need not protect.
func (ch *chain) copied() chain {
	return chain{agents: ch.sorted(), hops: ch.hops, at: ch.at, circleFrom: ch.circleFrom, restUntil: ch.restUntil, recent: slices.Clone(ch.recent)}
}

// loop shows a chain with its limits.
func (s *seen) loop(l limits, now core.Now, room hub.RoomID) hub.Loop {
	out := hub.Loop{
		Agents: s.chain.agents, RoomID: core.Optional(room), Channel: core.Optional(s.place.channel), ThreadID: core.Optional(s.place.thread),
		Stage: hub.LoopTold, Turns: s.chain.hops, StopAfter: l.stop,
	}
	if s.chain.hops > 0 {
		out.LastAt = core.Optional(now.Wall - hub.Time(now.HubMS-s.chain.at))
	}
	switch {
	case s.stop != nil:
		out.Stage, out.AskID = hub.LoopStopped, core.Optional(s.stop.ask)
		if s.stop.until != 0 {
			out.Stage, out.Until = hub.LoopApart, core.Optional(now.Wall+hub.Time(s.stop.until-now.HubMS))
		}
	case l.stop > 0 && s.chain.hops >= l.stop:
		out.Stage = hub.LoopStopped
	case l.slow > 0 && s.chain.hops >= l.slow && (s.chain.circleFrom > 0 || s.chain.fast(l.fastGap(s.chain.hops), now.HubMS)):
		out.Stage = hub.LoopSlowed
		if s.chain.restUntil > now.HubMS {
			out.Until = core.Optional(now.Wall + hub.Time(s.chain.restUntil-now.HubMS))
		}
	}
	return out
}

// stageOrder is the place of a stage among the others, the worst last.
func stageOrder(s hub.LoopStage) int {
	return slices.Index([]hub.LoopStage{hub.LoopTold, hub.LoopSlowed, hub.LoopApart, hub.LoopStopped}, s)
}
