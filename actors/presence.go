package actors

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// presenceTick is how often silent sessions are looked for. A session ends this
// much late at most.
const presenceTick = 5 * time.Second

// displacedKept is how long after the end of an agent's session a write of an
// earlier session may still be under way: parked, or waiting for its owner.
const displacedKept = hub.MaxWaitSec*time.Second + 2*engine.CommandLife

// watchPresence ends the sessions of agents that have been silent for too long, and tells of the
// tasks that agents have left and of those that nobody has.
func (h *Hub) watchPresence(quit <-chan struct{}) {
	tick := time.NewTicker(presenceTick)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		limit := h.engine.Clock.Now().Wall - hub.Time(hub.SessionIdleAfter.Milliseconds())
		for _, s := range h.view.Directory.Silent(limit) {
			h.endIdle(s)
		}
		h.noteLeft(h.engine.Clock.Now().Wall)
		h.suggestTasks(h.engine.Clock.Now().Wall)
		h.engine.Seq.ForgetEnded(h.engine.Clock.Now().HubMS - displacedKept.Milliseconds())
	}
}

// endIdle asks the agent's owner to end a session. Refusals do not matter: the
// next tick asks again.
func (h *Hub) endIdle(s core.SessionProof) {
	_, _, _ = engine.Submit(context.Background(), h.engine, engine.Command[*core.Agent, struct{}, struct{}]{
		Owner: core.AgentOwner(s.Agent),
		Decide: func(a *core.Agent, _ core.Now) (core.Decision[struct{}], error) {
			// The agent may have called since it was found silent.
			if row, _, live := h.view.Directory.Session(s.Agent); live && h.engine.Clock.Now().Wall-row.LastSeen < hub.Time(hub.SessionIdleAfter.Milliseconds()) {
				return nothing(), nil
			}
			d := nothing()
			d.Draft = a.Idle(s.Incarnation)
			return d, nil
		},
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	h.idle.forget(s.Agent) // now there is a session to revive
}

func nothing() core.Decision[struct{}] {
	return core.Decision[struct{}]{Answer: func(core.Position) struct{} { return struct{}{} }}
}

// Touch notes that agent has made a call; poll says that the call only waits
// for messages. A session that ended because of silence revives, and a retired agent is back
// when it does more than wait.
func (h *Hub) Touch(agent hub.AgentID, poll bool) {
	note := h.view.Directory.Act
	if poll {
		note = h.view.Directory.Touch
	}
	now := h.engine.Clock.Now().Wall
	if h.view.Retired.Since(agent) != 0 {
		if poll {
			return // it only waits
		}
		_, _ = h.revive(context.Background(), agent, 0)
	}
	if note(agent, now) || h.engine.Stopping.Load() || h.idle.heard(agent, now) {
		return
	}
	row, err := h.view.AgentRow(agent)
	if err != nil || row == nil || row.EndReason != core.EndedIdle || row.Session.Active {
		h.idle.remember(agent, now)
		return
	}
	_, _ = h.revive(context.Background(), agent, 0)
	note(agent, h.engine.Clock.Now().Wall)
}

// revive tells the agent's owner that the agent has made a call, and returns
// the latest session. incarnation is the one of the session that the call
// proved, or 0.
func (h *Hub) revive(ctx context.Context, agent hub.AgentID, incarnation uint64) (hub.Session, error) {
	decide, free := h.withRoom(ctx, agent, func(a *core.Agent, now core.Now) (core.Decision[hub.Session], error) {
		return a.Seen(incarnation, now), nil
	})
	defer free()
	row, _, err := engine.Submit(ctx, h.engine, engine.Command[*core.Agent, hub.Session, hub.Session]{
		Owner: core.AgentOwner(agent), Caller: &hub.Caller{}, Decide: decide,
		Begins: func(d core.Draft) core.SessionProof {
			for _, f := range d.Facts {
				if f, ok := f.(*core.SessionRevived); ok {
					return core.SessionProof{Agent: agent, Incarnation: f.Session.Incarnation}
				}
			}
			return core.SessionProof{}
		},
		Answer: func(row hub.Session, _ *core.Record) hub.Session { return row },
	})
	return row, err
}
