package actors

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// CreateChannel is idempotent; see hub.Channels.
func (h *Hub) CreateChannel(ctx context.Context, in hub.ChannelInput) (hub.Outcome[hub.Channel], error) {
	row, replayed, err := submit(ctx, h, write[*core.Channel, core.ChannelAnswer, core.ChannelAnswer]{
		owner: channelOwner(in.Name), agent: in.CreatedBy, size: len(in.Metadata),
		decide: func(c *core.Channel, now core.Now) (core.Decision[core.ChannelAnswer], error) {
			return c.Create(in, now), nil
		},
		answer: func(a core.ChannelAnswer, _ *core.Record) core.ChannelAnswer { return a },
		codec:  jsonCodec[core.ChannelAnswer](effectChannel),
	})
	return hub.Outcome[hub.Channel]{Row: row.Row, Created: row.Created, Replayed: replayed}, err
}

// Channels lists all channels by name; see hub.Channels.
func (h *Hub) Channels(context.Context) ([]hub.Channel, error) {
	out := []hub.Channel{builtinChannel(hub.DirectChannel), builtinChannel(hub.DefaultChannel)}
	bad := false
	err := h.rows.RowsOf(core.TableChannel, nil, false, func(_, value []byte) bool {
		var row hub.Channel
		if bad = json.Unmarshal(value, &row) != nil; bad {
			return false
		}
		out = append(out, row)
		return true
	})
	if bad {
		err = hub.NewError(hub.CodeCorruptRecord, "a stored channel cannot be read")
	}
	for _, room := range look(h.views.places, func(a *core.Atlas) []hub.Room { return a.Rooms("") }) {
		out = append(out, roomChannel(&room))
	}
	slices.SortFunc(out, func(a, b hub.Channel) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out, err
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
	row, err := h.channelRow(name)
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
