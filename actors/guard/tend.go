package guard

import (
	"context"
	"log/slog"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// Serve looks at chains that have grown, until quit is closed.
func (g *Guard) Serve(quit <-chan struct{}) {
	for {
		select {
		case <-g.news:
		case <-quit:
			return
		}
		for _, p := range g.taken() {
			if err := g.tend(p); err != nil && !g.engine.Stopping.Load() {
				g.log.LogAttrs(context.Background(), slog.LevelWarn, "agents that post to each other without progress were not told, or the operator was not asked", slog.Any("error", err))
			}
		}
	}
}

func (g *Guard) taken() (all []place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.due {
		all = append(all, p)
	}
	clear(g.due)
	return all
}

// tend tells the agents of a chain, once, and asks the operator, once. If either fails,
// the next post tries it again.
func (g *Guard) tend(p place) error {
	l := g.limits(p)
	if !l.watched() {
		return nil
	}
	now := g.engine.Clock.Now().HubMS
	g.mu.Lock()
	ch := g.chains.at(p, now)
	l = l.of(ch)
	loop := ch.loop(p)
	loop.Room = g.view.RoomOf(p.channel)
	_, held := g.stops[p]
	if row, err := g.view.Room(loop.Room); err == nil && loop.Room != "" {
		loop.Slug = row.Slug
	}
	tell, ask := ch.hops >= l.tell && !ch.told, l.stop > 0 && ch.hops >= l.stop && !ch.asked && !held
	ch.told, ch.asked = ch.told || tell, ch.asked || ask
	g.mu.Unlock()
	var err error
	if tell {
		err = g.tell(&loop, l)
	}
	if err == nil && ask {
		err = g.ask(context.Background(), loop)
	}
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		ch.told, ch.asked = ch.told && !tell, ch.asked && !ask
	}
	return err
}

// tell sends each agent of a chain one notice.
func (g *Guard) tell(l *core.Loop, at limits) error {
	for _, agent := range l.Agents {
		m := core.LoopNotice(*l, agent, at.slow, at.stop)
		_, _, err := engine.Submit(context.Background(), g.engine, engine.Command[*core.Agent, hub.MessageID, struct{}]{
			Owner: core.AgentOwner(m.To), Size: len(m.Body) + len(m.Metadata),
			Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.MessageID], error) { return a.Deliver(m), nil },
			Answer: func(hub.MessageID, *core.Record) struct{} { return struct{}{} },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// limits returns the limits of a place. For direct messages they are the widest that the
// operator has set for rooms in which all its agents have a seat; if there are none, the usual ones.
func (g *Guard) limits(p place) limits {
	if p.channel != "" {
		row, err := g.view.Room(g.view.RoomOf(p.channel))
		if err != nil {
			return usual
		}
		return limitsOf(row.GuardHops)
	}
	var own []hub.Room
	g.view.Places.Rooms("", func(r *hub.Room) {
		if r.GuardHops != nil {
			own = append(own, *r)
		}
	})
	var widest *int
	for i := range own {
		if slices.ContainsFunc(p.agents(), func(agent hub.AgentID) bool { return !g.sits(own[i].RoomID, agent) }) {
			continue
		}
		hops := own[i].GuardHops
		if *hops == 0 {
			return limits{}
		}
		if widest == nil || *hops > *widest {
			widest = hops
		}
	}
	return limitsOf(widest)
}

// sits reports whether an agent has a seat in a room.
func (g *Guard) sits(room hub.RoomID, agent hub.AgentID) bool {
	_, err := g.view.SeatOf(room, agent)
	return err == nil
}
