package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// Mute begins a mute; see hub.Mutes.
func (h *Hub) Mute(ctx context.Context, in hub.MuteInput) (hub.Outcome[hub.Mute], error) {
	if in.RoomID != "" {
		if _, err := h.view.Room(in.RoomID); err != nil {
			return hub.Outcome[hub.Mute]{}, err
		}
	}
	if in.AgentID != "" {
		var err error
		if in.AgentID, err = h.view.Successor(in.AgentID); err != nil {
			return hub.Outcome[hub.Mute]{}, err
		}
	}
	unclear := h.unclear(in.AgentID, in.UnlessNear)
	return h.changeMute(ctx, len(in.Reason), func(m *core.Mutes, now core.Now) (core.Decision[hub.Mute], error) {
		if unclear != nil {
			return core.Decision[hub.Mute]{}, unclear
		}
		return m.Mute(in, now)
	})
}

// EndMute ends a mute; see hub.Mutes.
func (h *Hub) EndMute(ctx context.Context, in hub.MuteEndInput) (hub.Outcome[hub.Mute], error) {
	next := in.AgentID // under whose id the mute may have begun
	if next != "" {
		var err error
		if next, err = h.view.Successor(next); err != nil {
			return hub.Outcome[hub.Mute]{}, err
		}
	}
	return h.changeMute(ctx, 0, func(m *core.Mutes, now core.Now) (core.Decision[hub.Mute], error) {
		d, err := m.End(hub.MuteTarget(in), now)
		if err != nil && next != in.AgentID {
			return m.End(hub.MuteTarget{AgentID: next, RoomID: in.RoomID}, now)
		}
		return d, err
	})
}

// Mutes lists the mutes in force; see hub.Mutes.
func (h *Hub) Mutes(context.Context) ([]hub.Mute, error) {
	return h.view.Mutes(h.engine.Clock.Now().Wall), nil
}

func (h *Hub) changeMute(ctx context.Context, size int, decide func(*core.Mutes, core.Now) (core.Decision[hub.Mute], error)) (hub.Outcome[hub.Mute], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Mutes, hub.Mute, hub.Mute]{
		Owner: core.MutesOwner(), Agent: hub.AgentOperator, Size: size, Decide: decide,
		Answer: func(row hub.Mute, _ *core.Record) hub.Mute { return row },
		Codec:  engine.JSONCodec[hub.Mute](engine.EffectMute),
	})
	return hub.Outcome[hub.Mute]{Row: row, Replayed: replayed}, err
}

// muting marks what a muted agent posts, when the command is decided: the mark is a part of
// the message, and stays when the mute has ended. What the operator and the hub say is never
// muted.
func muting[S core.Machine, D, T any](ctx context.Context, h *Hub, room hub.RoomID, c engine.Command[S, D, T]) engine.Command[S, D, T] {
	if hub.CallerOf(ctx).Operator || c.Agent == hub.AgentSystem {
		return c
	}
	agent, decide := c.Agent, c.Decide
	c.Decide = func(s S, now core.Now) (core.Decision[D], error) {
		d, err := decide(s, now)
		if err == nil && h.view.Muted(agent, room, now.Wall) != nil {
			for i := range d.Messages {
				d.Messages[i].Muted = d.Messages[i].Muted || d.Messages[i].From == agent
			}
		}
		return d, err
	}
	return c
}

// mutedNow returns the mute that a post has met; nil: there is none. The mark of the message
// counts: a mute that began after the post did not concern it.
func (h *Hub) mutedNow(ctx context.Context, m *core.MessageDraft, row hub.EncodedMessage) *hub.Mute {
	if hub.CallerOf(ctx).Operator {
		return nil
	}
	mute := h.view.Muted(m.From, m.Room, h.engine.Clock.Now().Wall)
	if mute == nil {
		return nil
	}
	if stored, err := h.view.Message(messageID(row)); err != nil || !stored.Muted {
		return nil
	}
	return mute
}
