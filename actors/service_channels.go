package actors

import (
	"context"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// CreateChannel is idempotent; see hub.Channels.
func (h *Hub) CreateChannel(ctx context.Context, in hub.ChannelInput) (hub.Outcome[hub.Channel], error) {
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Channel, core.ChannelAnswer, core.ChannelAnswer]{
		Owner: core.ChannelOwner(in.Name), Agent: in.CreatedBy, Size: len(in.Metadata),
		Decide: func(c *core.Channel, now core.Now) (core.Decision[core.ChannelAnswer], error) {
			return c.Create(in, now), nil
		},
		Answer: func(a core.ChannelAnswer, _ *core.Record) core.ChannelAnswer { return a },
		Codec:  engine.JSONCodec[core.ChannelAnswer](engine.EffectChannel),
	})
	return hub.Outcome[hub.Channel]{Row: row.Row, Created: row.Created, Replayed: replayed}, err
}

// knownChannels remembers channels that exist. Channels are never deleted, so
// what is in it stays true; it forgets at random beyond its size.
type knownChannels struct {
	mu    sync.RWMutex
	names map[hub.ChannelName]struct{}
}

const channelsRemembered = 4096

// knownChannel reports whether a channel exists.
func (h *Hub) knownChannel(name hub.ChannelName) (bool, error) {
	k := &h.channels
	k.mu.RLock()
	_, known := k.names[name]
	k.mu.RUnlock()
	if known || name == hub.DefaultChannel || name == hub.DirectChannel {
		return true, nil
	}
	row, err := h.view.ChannelRow(name)
	if err != nil || row == nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for old := range k.names {
		if len(k.names) < channelsRemembered {
			break
		}
		delete(k.names, old)
	}
	if k.names == nil {
		k.names = map[hub.ChannelName]struct{}{}
	}
	k.names[name] = struct{}{}
	return true, nil
}
