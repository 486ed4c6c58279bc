package hook

import (
	"context"

	"hubcli/hub"
)

// attention asks what the agent has not seen. In a prompt and after a tool the hub is
// told that the agent works, unless it knows.
func (r *run) attention(ctx context.Context, id hub.AgentID, room *hub.Room) (hub.Attention, error) {
	a, err := r.hub.Attention(ctx, hub.AttentionQuery{Agent: id, Room: roomID(room)})
	if err == nil && a.Turn != hub.TurnWorking && (r.event == Prompt || r.event == Tool) {
		_, _ = r.hub.NoteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnWorking})
	}
	return a, err
}

// turnEnded notes that the turn of the agent is over. It is the last call of the hook: a
// later one would be a sign of work. If it fails, the agent counts as working for a while.
func (r *run) turnEnded(ctx context.Context) {
	id, saved, err := r.known()
	if err != nil || r.hub == nil && r.connect(ctx, saved) != nil {
		return
	}
	_, _ = r.hub.NoteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnIdle})
}
