package actors

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// endedFor is how long after the end of a session a hook may still tell of its last turn. A harness that
// exits when its model fails ends the session and the turn at once, in either order.
const endedFor = 10 * time.Second

// justEnded reports whether the last session of an agent ended a moment ago.
func (h *Hub) justEnded(agent hub.AgentID) bool {
	row, err := h.view.AgentRow(agent)
	return err == nil && row != nil && row.EndedAt > 0 && int64(h.engine.Clock.Now().Wall-row.EndedAt) < endedFor.Milliseconds()
}

// tellStuck tells the room of an agent that its model has failed. Nobody in the room sees it
// otherwise: the agent looks as if it worked, or idles.
func (h *Hub) tellStuck(agent hub.AgentID, why string) {
	room := h.readsIn(agent)
	if agent.Trial() || room == "" || !h.view.Directory.TellsStuck(agent, h.engine.Clock.Now().Wall) {
		return
	}
	m := core.StuckNotice(agent, room, why)
	_, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Channel, hub.MessageID, struct{}]{
		Owner: core.ChannelOwner(m.Channel), Size: len(m.Body) + len(m.Metadata),
		Decide: func(c *core.Channel, _ core.Now) (core.Decision[hub.MessageID], error) { return c.Post(m), nil },
		Answer: func(hub.MessageID, *core.Record) struct{} { return struct{}{} },
	})
	if err != nil {
		h.log.Warn("a room was not told of an agent that is stuck", "agent", agent, "error", err)
	}
}
