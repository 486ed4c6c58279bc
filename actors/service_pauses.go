package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Pause begins a pause; see hub.Pauses.
func (h *Hub) Pause(ctx context.Context, in hub.PauseInput) (hub.Outcome[hub.Pause], error) {
	unclear := h.unclear(in.AgentID, in.UnlessNear)
	return h.changePause(ctx, core.PauseCommand{Target: in.Target(), Words: in.Words}, func(p *core.Pauses, c core.PauseCommand, now core.Now) (core.Decision[hub.Pause], error) {
		if unclear != nil {
			return core.Decision[hub.Pause]{}, unclear
		}
		return p.Pause(c, now)
	})
}

// EndPause ends a pause; see hub.Pauses.
func (h *Hub) EndPause(ctx context.Context, in hub.PauseEndInput) (hub.Outcome[hub.Pause], error) {
	return h.changePause(ctx, core.PauseCommand{Target: hub.PauseTarget(in)}, func(p *core.Pauses, c core.PauseCommand, _ core.Now) (core.Decision[hub.Pause], error) {
		return p.Resume(c)
	})
}

// Pauses lists the pauses in force; see hub.Pauses.
func (h *Hub) Pauses(context.Context) ([]hub.Pause, error) { return h.view.Pauses(), nil }

func (h *Hub) changePause(ctx context.Context, c core.PauseCommand, decide func(*core.Pauses, core.PauseCommand, core.Now) (core.Decision[hub.Pause], error)) (hub.Outcome[hub.Pause], error) {
	var err error
	if c.Tell, err = h.concerned(c.Target); err != nil {
		return hub.Outcome[hub.Pause]{}, err
	}
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Pauses, hub.Pause, hub.Pause]{
		Owner: core.PausesOwner(), Agent: hub.AgentOperator, Size: len(c.Words),
		Decide: func(p *core.Pauses, now core.Now) (core.Decision[hub.Pause], error) { return decide(p, c, now) },
		Answer: func(row hub.Pause, _ *core.Record) hub.Pause { return row },
		Codec:  engine.JSONCodec[hub.Pause](engine.EffectPause),
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

// unpaused makes the owner refuse a command while a pause stops its agent, or what the agent
// does in room. It looks when the command is decided, so that a command that waited for
// its turn is refused too; and a repeated call gets its stored answer all the same.
func unpaused[S core.Machine, D, T any](ctx context.Context, h *Hub, room hub.RoomID, c engine.Command[S, D, T]) engine.Command[S, D, T] {
	caller, decide := hub.CallerOf(ctx), c.Decide
	c.Decide = func(s S, now core.Now) (core.Decision[D], error) {
		if err := h.view.RefusePaused(caller, c.Agent, room); err != nil {
			return core.Decision[D]{}, err
		}
		return decide(s, now)
	}
	return c
}

// taskPaused refuses what an agent does with a task while a pause stops it. An agent may
// always end the task that it has, or give it back: frees says that the call does that.
func (h *Hub) taskPaused(ctx context.Context, agent hub.AgentID, id hub.TaskID, frees bool) error {
	var room hub.RoomID
	if t, err := h.view.AnyTask(id); err == nil { // the owner refuses an id that is none
		if frees && t.Task.Assignee != nil && *t.Task.Assignee == agent {
			return nil
		}
		if t.Task.RoomID != nil {
			room = *t.Task.RoomID
		}
	}
	return h.view.RefusePaused(hub.CallerOf(ctx), agent, room)
}

// frees reports whether an update ends the task or gives it back, and begins nothing.
func frees(in *hub.TaskUpdateInput) bool {
	ends := in.Status != nil && in.Status.Terminal()
	returns := in.Status == nil && in.Assignee != nil && *in.Assignee == ""
	return (ends && (in.Assignee == nil || *in.Assignee == "") || returns) && in.BlockedBy == nil
}

// taskPostPaused is taskPaused for a message that acts on a task.
func (h *Hub) taskPostPaused(ctx context.Context, m *core.MessageDraft) error {
	if m.Kind == hub.KindTaskResult {
		return h.taskPaused(ctx, m.From, m.ReplyTo, true)
	}
	return h.view.RefusePaused(hub.CallerOf(ctx), m.From, m.Room)
}
