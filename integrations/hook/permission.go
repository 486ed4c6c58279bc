package hook

import (
	"context"

	"hubcli/hub"
)

// permission notes that the harness asks a user whether a tool may run. The next event
// of the session takes that back. Nothing is said, because an answer would decide.
func (r *run) permission(ctx context.Context) error {
	id, saved, err := r.known()
	if err != nil {
		return err
	}
	if err := r.connect(ctx, saved.BaseURL); err != nil {
		return err
	}
	_, err = r.hub.Prompt(ctx, hub.PromptInput{AgentID: id, Asks: true, Tool: r.payload.Tool})
	if err != nil {
		return err
	}
	return quiet("the hub knows that the agent's program asks its user")
}

// attention asks what the agent has not seen. An event in which this matters is past any
// prompt: the hub is told so if it shows one.
func (r *run) attention(ctx context.Context, id hub.AgentID, room *hub.Room) (hub.Attention, error) {
	a, err := r.hub.Attention(ctx, hub.AttentionQuery{Agent: id, Room: roomID(room)})
	if err == nil && a.AtPrompt {
		_, _ = r.hub.Prompt(ctx, hub.PromptInput{AgentID: id})
	}
	return a, err
}
