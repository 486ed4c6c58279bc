package actors

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// check asks whether the agent's sibling session is still right. It does not
// wait.
func (s *watches) check(agent hub.AgentID) {
	s.mu.Lock()
	s.doubtful[agent] = struct{}{}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// toCheck returns the agents whose sibling session may have to begin or end.
func (s *watches) toCheck() map[hub.AgentID]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.doubtful
	s.doubtful = map[hub.AgentID]struct{}{}
	return all
}

func (s *watches) waits(agent hub.AgentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting[agent]) > 0
}

// A sibling session stays for a while when nothing waits any more, so that the
// slices of one long watch have one session: from watcherStays to twice as long.
const watcherStays = 20 * time.Second

// keepWatchers gives each agent a session <agent>.watch while a watch of it
// waits, beside the agent's own. A session that a crash has left behind ends of
// silence, as others do.
func (h *Hub) keepWatchers(quit <-chan struct{}) {
	left := map[hub.AgentID]time.Time{} // when the last watch ended of those whose session stays
	tick := time.NewTimer(watcherStays)
	defer tick.Stop()
	for {
		select {
		case <-h.watches.changed:
			for agent := range h.watches.toCheck() {
				if h.watches.waits(agent) {
					delete(left, agent)
					h.beginWatcher(agent)
					continue
				}
				if len(left) == 0 {
					tick.Reset(watcherStays)
				}
				left[agent] = time.Now()
			}
		case now := <-tick.C:
			for agent, at := range left {
				if now.Sub(at) >= watcherStays {
					delete(left, agent)
					h.endWatcher(agent)
				}
			}
			if len(left) > 0 {
				tick.Reset(watcherStays)
			}
		case <-quit:
			return
		}
	}
}

// beginWatcher begins the sibling session. Refusals do not matter: the session is
// for people to see, and the next watch asks again.
func (h *Hub) beginWatcher(agent hub.AgentID) {
	sibling := agent.Watch()
	if _, _, live := h.view.Directory.Session(sibling); !live {
		_, _ = h.Register(context.Background(), hub.RegisterInput{AgentID: sibling})
	}
}

// endWatcher ends the sibling session, unless a watch waits again.
func (h *Hub) endWatcher(agent hub.AgentID) {
	sibling := agent.Watch()
	row, _, live := h.view.Directory.Session(sibling)
	if !live || h.watches.waits(agent) {
		return
	}
	_, _, _ = engine.Submit(context.Background(), h.engine, engine.Command[*core.Agent, hub.ClosedSession, struct{}]{
		Owner: core.AgentOwner(sibling),
		Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.ClosedSession], error) {
			return a.Close(row.SessionID)
		},
		Answer: func(hub.ClosedSession, *core.Record) struct{} { return struct{}{} },
	})
}
