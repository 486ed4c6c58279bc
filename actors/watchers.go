package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// check asks whether the agent's sibling session is still right. It does not
// wait: if too much is asked at once, some sessions begin or end late.
func (s *watches) check(agent hub.AgentID) {
	select {
	case s.changed <- agent:
	default:
	}
}

func (s *watches) waits(agent hub.AgentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting[agent]) > 0
}

// keepWatchers gives each agent a session <agent>.watch while a watch of it
// waits, beside the agent's own. A session that a crash has left behind ends of
// silence, as others do.
func (h *Hub) keepWatchers(quit <-chan struct{}) {
	for {
		select {
		case agent := <-h.watches.changed:
			h.checkWatcher(agent)
		case <-quit:
			return
		}
	}
}

// checkWatcher begins or ends the sibling session. Refusals do not matter: the
// session is for people to see, and the next watch asks again.
func (h *Hub) checkWatcher(agent hub.AgentID) {
	sibling := agent.Watch()
	row, _, live := h.views.directory.session(sibling)
	switch waits := h.watches.waits(agent); {
	case waits && !live:
		_, _ = h.Register(context.Background(), hub.RegisterInput{AgentID: sibling})
	case !waits && live:
		_, _, _ = submit(context.Background(), h, write[*core.Agent, hub.ClosedSession, struct{}]{
			owner: agentOwner(sibling),
			decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.ClosedSession], error) {
				return a.Close(row.SessionID)
			},
			answer: func(hub.ClosedSession, *core.Record) struct{} { return struct{}{} },
		})
	}
}
