package hook

import (
	"context"

	"hubcli/hub"
)

// markAsked marks a session whose harness has asked a user at least once.
const markAsked = "asked"

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
	once(r.sessions, r.payload.SessionID, markAsked, false)
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

// answered takes back the prompt of an agent at an event that asks the hub for nothing
// else. A user who refuses a tool often ends the turn with it. It does nothing in a
// session without a prompt, because such events are often. An error changes nothing: the
// next event tries again.
func (r *run) answered(ctx context.Context) {
	if !r.sessions.Marked(r.payload.SessionID, markAsked) {
		return
	}
	id, saved, err := r.known()
	if err != nil || r.connect(ctx, saved.BaseURL) != nil {
		return
	}
	_, _ = r.hub.Prompt(ctx, hub.PromptInput{AgentID: id})
}
