package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Pause begins a pause; see hub.Pauses.
func (h *Hub) Pause(ctx context.Context, in hub.PauseInput) (hub.Outcome[hub.Pause], error) {
	unclear := h.unclear(in.AgentID, in.UnlessNear)
	return h.changePause(ctx, ruling("pause"), core.PauseCommand{Target: in.Target(), Words: in.Words}, func(p *core.Pauses, c core.PauseCommand, now core.Now) (core.Decision[hub.Pause], error) {
		if unclear != nil {
			return core.Decision[hub.Pause]{}, unclear
		}
		return p.Pause(c, now)
	})
}

// EndPause ends a pause; see hub.Pauses.
func (h *Hub) EndPause(ctx context.Context, in hub.PauseEndInput) (hub.Outcome[hub.Pause], error) {
	return h.changePause(ctx, ruling("endPause"), core.PauseCommand{Target: hub.PauseTarget(in)}, func(p *core.Pauses, c core.PauseCommand, _ core.Now) (core.Decision[hub.Pause], error) {
		return p.Resume(c)
	})
}

// Pauses lists the pauses in force; see hub.Pauses.
func (h *Hub) Pauses(context.Context) ([]hub.Pause, error) { return h.view.Pauses(), nil }

func (h *Hub) changePause(ctx context.Context, act gate.Act, c core.PauseCommand, decide func(*core.Pauses, core.PauseCommand, core.Now) (core.Decision[hub.Pause], error)) (hub.Outcome[hub.Pause], error) {
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.Pause](engine.EffectPause), func() (engine.Command[*core.Pauses, hub.Pause, hub.Pause], error) {
		var err error
		c.Tell, err = h.concerned(c.Target)
		return engine.Command[*core.Pauses, hub.Pause, hub.Pause]{
			Owner: core.PausesOwner(), Size: len(c.Words), Answer: asDecided[hub.Pause],
			Decide: func(p *core.Pauses, now core.Now) (core.Decision[hub.Pause], error) { return decide(p, c, now) },
		}, err
	})
	return hub.Outcome[hub.Pause]{Row: row, Replayed: replayed}, err
}

// toldRooms bounds the rooms to which a pause of everything is told, because they are told
// in one record.
const toldRooms = 200

// concerned returns the channels in which those read whom a pause concerns: that of the
// room, or for everything the default channel and those of all rooms.
func (h *Hub) concerned(t hub.PauseTarget) ([]hub.ChannelName, error) {
	if t.RoomID != "" {
		room, err := h.view.Room(t.RoomID)
		return []hub.ChannelName{room.Channel}, err
	}
	if !t.All {
		return nil, nil
	}
	channels := []hub.ChannelName{hub.DefaultChannel}
	for _, room := range view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms("") }) {
		if len(channels) <= toldRooms && !room.Archived {
			channels = append(channels, room.Channel)
		}
	}
	return channels, nil
}

// frees reports whether an update ends the task or gives it back, and begins nothing.
func frees(in *hub.TaskUpdateInput) bool {
	ends := in.Status != nil && in.Status.Terminal()
	returns := in.Status == nil && in.Assignee != nil && *in.Assignee == ""
	return (ends && (in.Assignee == nil || *in.Assignee == "") || returns) && in.BlockedBy == nil
}
