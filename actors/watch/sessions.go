package watch

import (
	"context"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// sessions keeps the sibling sessions of agents that watch.
type sessions struct {
	view     *view.View
	engine   *engine.Engine
	register func(context.Context, hub.RegisterInput) (hub.Outcome[hub.Registered], error)
	waits    func(hub.AgentID) bool // whether any watch of the agent waits

	mu       sync.Mutex
	doubtful map[hub.AgentID]struct{} // agents whose sibling session may have to begin or end
	changed  chan struct{}            // doubtful has news; capacity 1
}

// check has serve look at the agent's sibling session. It does not wait.
func (s *sessions) check(agent hub.AgentID) {
	s.mu.Lock()
	s.doubtful[agent] = struct{}{}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// toCheck takes the agents whose sibling session may have to begin or end.
func (s *sessions) toCheck() map[hub.AgentID]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.doubtful
	s.doubtful = map[hub.AgentID]struct{}{}
	return all
}

// sessionStays is how long a sibling session stays after the last watch of its agent,
// or up to twice as long. So the calls that make up one long watch have one session.
const sessionStays = 20 * time.Second

// serve gives each agent a sibling session <agent>.watch while a watch of it waits,
// until quit is closed. A session that a crash has left behind ends after silence, as
// others do.
func (s *sessions) serve(quit <-chan struct{}) {
	left := map[hub.AgentID]time.Time{} // when the last watch ended of agents whose session stays
	tick := time.NewTimer(sessionStays)
	defer tick.Stop()
	for {
		select {
		case <-s.changed:
			for agent := range s.toCheck() {
				if s.waits(agent) {
					delete(left, agent)
					s.begin(agent)
					continue
				}
				if len(left) == 0 {
					tick.Reset(sessionStays)
				}
				left[agent] = time.Now()
			}
		case now := <-tick.C:
			for agent, at := range left {
				if now.Sub(at) >= sessionStays {
					delete(left, agent)
					s.end(agent)
				}
			}
			if len(left) > 0 {
				tick.Reset(sessionStays)
			}
		case <-quit:
			return
		}
	}
}

// begin begins the sibling session. Refusals do not matter: the session is for
// people to see, and the next watch asks again.
func (s *sessions) begin(agent hub.AgentID) {
	sibling := agent.Watch()
	if _, _, live := s.view.Directory.Session(sibling); !live {
		_, _ = s.register(context.Background(), hub.RegisterInput{AgentID: sibling})
	}
}

// end ends the sibling session, unless a watch waits again.
func (s *sessions) end(agent hub.AgentID) {
	sibling := agent.Watch()
	row, _, live := s.view.Directory.Session(sibling)
	if !live || s.waits(agent) {
		return
	}
	_, _, _ = engine.Submit(context.Background(), s.engine, engine.Command[*core.Agent, hub.ClosedSession, struct{}]{
		Owner: core.AgentOwner(sibling),
		Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.ClosedSession], error) {
			return a.Close(row.SessionID, "")
		},
		Answer: func(hub.ClosedSession, *core.Record) struct{} { return struct{}{} },
	})
}
