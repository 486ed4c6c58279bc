package actors

import (
	"context"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// CreateChannel is idempotent; see hub.Channels.
func (h *Hub) CreateChannel(ctx context.Context, in hub.ChannelInput) (hub.Outcome[hub.Channel], error) {
	free := func() {}
	defer func() { free() }()
	act := gate.Act{Op: "createChannel", Agent: in.CreatedBy}
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[core.ChannelAnswer](engine.EffectChannel), func() (engine.Command[*core.Channel, core.ChannelAnswer, core.ChannelAnswer], error) {
		var refusal error
		if known, err := h.knownChannel(in.Name); err != nil || !known {
			free, refusal = h.view.Directory.Channels.Reserve(in.CreatedBy, h.standing(ctx, in.CreatedBy), 1)
		}
		return engine.Command[*core.Channel, core.ChannelAnswer, core.ChannelAnswer]{
			Owner: core.ChannelOwner(in.Name), Size: len(in.Metadata), Answer: asDecided[core.ChannelAnswer],
			Decide: func(c *core.Channel, _ core.Now) (core.Decision[core.ChannelAnswer], error) {
				return c.Create(in, refusal)
			},
		}, nil
	})
	return hub.Outcome[hub.Channel]{Row: row.Row, Created: row.Created, Replayed: replayed}, err
}

// ArchiveChannel archives a channel; see hub.Channels.
func (h *Hub) ArchiveChannel(ctx context.Context, in hub.ChannelArchiveInput) (hub.Outcome[hub.Channel], error) {
	name := in.Channel
	if id, ok := name.Room(); ok {
		return hub.Outcome[hub.Channel]{}, hub.Errorf(hub.CodeInvalid, "channel %s belongs to room %s", name, id).
			With("field", "channel").WithFix("archive the room")
	}
	if !name.Archives() {
		fix := "archive another channel"
		if !in.Archived {
			fix = "leave it as it is: it is in the lists always"
		}
		return hub.Outcome[hub.Channel]{}, hub.Errorf(hub.CodeInvalid, "channel %s is a part of every hub and cannot be archived", name).
			With("field", "channel").WithFix(fix)
	}
	act := ruling("archiveChannel")
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[hub.Channel](engine.EffectChannelArchived), func() (engine.Command[*core.Channel, hub.Channel, hub.Channel], error) {
		return engine.Command[*core.Channel, hub.Channel, hub.Channel]{
			Owner: core.ChannelOwner(name), Answer: asDecided[hub.Channel],
			Decide: func(c *core.Channel, _ core.Now) (core.Decision[hub.Channel], error) {
				return c.Archive(name, in.Archived)
			},
		}, nil
	})
	return hub.Outcome[hub.Channel]{Row: row, Replayed: replayed}, err
}

// knownChannel reports whether a channel exists.
func (h *Hub) knownChannel(name hub.ChannelName) (bool, error) {
	k := h.channels
	if name == hub.DefaultChannel || name == hub.DirectChannel {
		return true, nil
	}
	k.mu.Lock()
	_, known := k.names.Get(name)
	k.mu.Unlock()
	if known {
		return true, nil
	}
	row, err := h.view.ChannelRow(name)
	if err != nil || row == nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names.Put(name, struct{}{})
	return true, nil
}
