package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"hubcli/hub"
)

// attention asks what the agent has not seen. In a prompt and after a tool the hub is
// told that the agent works, unless it knows.
func (r *run) attention(ctx context.Context, id hub.AgentID, room *hub.Room) (hub.Attention, error) {
	a, err := r.hub.Attention(ctx, hub.AttentionQuery{Agent: id, Room: roomID(room)})
	if err == nil && a.Turn != hub.TurnWorking && (r.event == Prompt || r.event == Tool) {
		_, _ = r.hub.NoteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnWorking})
	}
	r.sure = a.SureID
	return a, err
}

// stands notes that a session which begins stands at its first prompt. It is the last call of the hook. A compaction
// begins the session anew within a turn. Where no hook tells of prompts, or of the session before its first one, it
// may be in its first turn.
func (r *run) stands(ctx context.Context, id hub.AgentID) {
	if r.form().hears(Prompt) && !r.harness.Facts().BeginsLate && r.payload.Source != fromCompact {
		_, _ = r.hub.NoteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnIdle})
	}
}

// woken reports whether what the adapter has installed begins a turn of an idle session with a message.
func (r *run) woken() bool {
	f := r.harness.Facts()
	if f.Streams || f.Queues {
		return true
	}
	if f.WakeFile == "" {
		return false
	}
	home := r.Getenv(f.HomeVariable)
	if home == "" && r.Getenv("HOME") != "" {
		home = filepath.Join(r.Getenv("HOME"), f.Homes[0])
	}
	if home == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(home, filepath.FromSlash(f.WakeFile)))
	return err == nil && info.Mode().IsRegular()
}

// fromCompact is the source of a session that begins anew because its context was cut.
const fromCompact = "compact"

// fromBefore is the source of a session that goes on with all that its model has read.
const fromBefore = "resume"

// notOfModels are the kinds of errors, of those that Copilot CLI tells of, after which a turn goes on.
var notOfModels = []string{"tool_execution", "system", "user_input"}

// failure notes that the turn of the agent is over because its model failed. The hub tells the room.
func (r *run) failure(ctx context.Context) error {
	if slices.Contains(notOfModels, r.payload.Error) {
		return quiet("the error is none of the model's")
	}
	id, saved, err := r.known()
	if err != nil {
		return err
	}
	if err := r.connect(ctx, saved); err != nil {
		return err
	}
	_, err = r.hub.NoteTurn(ctx, hub.TurnInput{AgentID: id, Turn: hub.TurnStuck, Error: r.payload.Error})
	return err
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
