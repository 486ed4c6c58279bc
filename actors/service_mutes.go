package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// Mute begins a mute; see hub.Mutes.
func (h *Hub) Mute(ctx context.Context, in hub.MuteInput) (hub.Outcome[hub.Mute], error) {
	return h.changeMute(ctx, ruling("mute"), len(in.Reason), func() (muteDecision, error) {
		var err error
		if in.RoomID != "" {
			_, err = h.view.Room(in.RoomID)
		}
		if err == nil && in.AgentID != "" {
			in.AgentID, err = h.view.Successor(in.AgentID)
		}
		if err == nil {
			err = h.unclear(in.AgentID, in.UnlessNear)
		}
		return func(m *core.Mutes, now core.Now) (core.Decision[hub.Mute], error) { return m.Mute(in, now) }, err
	})
}

// EndMute ends a mute; see hub.Mutes.
func (h *Hub) EndMute(ctx context.Context, in hub.MuteEndInput) (hub.Outcome[hub.Mute], error) {
	return h.changeMute(ctx, ruling("endMute"), 0, func() (muteDecision, error) {
		next, err := in.AgentID, error(nil) // under whose id the mute may have begun
		if next != "" {
			next, err = h.view.Successor(next)
		}
		return func(m *core.Mutes, now core.Now) (core.Decision[hub.Mute], error) {
			d, err := m.End(hub.MuteTarget(in), now)
			if err != nil && next != in.AgentID {
				return m.End(hub.MuteTarget{AgentID: next, RoomID: in.RoomID}, now)
			}
			return d, err
		}, err
	})
}

// Mutes lists the mutes in force; see hub.Mutes.
func (h *Hub) Mutes(context.Context) ([]hub.Mute, error) {
	return h.view.Mutes(h.engine.Clock.Now().Wall), nil
}

type muteDecision = func(*core.Mutes, core.Now) (core.Decision[hub.Mute], error)

func (h *Hub) changeMute(ctx context.Context, act gate.Act, size int, prepare func() (muteDecision, error)) (hub.Outcome[hub.Mute], error) {
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.Mute](engine.EffectMute), func() (engine.Command[*core.Mutes, hub.Mute, hub.Mute], error) {
		decide, err := prepare()
		return engine.Command[*core.Mutes, hub.Mute, hub.Mute]{Owner: core.MutesOwner(), Size: size, Decide: decide, Answer: asDecided[hub.Mute]}, err
	})
	return hub.Outcome[hub.Mute]{Row: row, Replayed: replayed}, err
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
