package actors

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
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

// Channels lists channels by name; see hub.Channels. They are of three kinds: those
// that always exist, those that were made and those of rooms.
func (h *Hub) Channels(_ context.Context, q hub.ChannelsQuery) ([]hub.Channel, hub.Cursor, error) {
	behind, err := h.textPlace(listChannels, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	n := pageRows(q.Limit)
	keeps := func(c *hub.Channel) bool {
		return string(c.Name) > behind && strings.HasPrefix(string(c.Name), q.Prefix) && (q.CreatedBy == "" || c.CreatedBy == q.CreatedBy)
	}
	found := view.Firsts[hub.Channel]{N: n + 1, Compare: func(a, b hub.Channel) int { return cmp.Compare(a.Name, b.Name) }}
	add := func(c hub.Channel) {
		if keeps(&c) {
			found.Add(c)
		}
	}
	add(view.BuiltinChannel(hub.DirectChannel))
	add(view.BuiltinChannel(hub.DefaultChannel))
	h.view.Places.Rooms("", func(room *hub.Room) { add(view.RoomChannel(room)) })
	stored := 0
	err = view.ReadRows(h.rows, core.TableChannel, []byte(q.Prefix), []byte(behind), false, func(_ []byte, c hub.Channel) bool {
		if keeps(&c) {
			found.Add(c)
			stored++
		}
		return stored <= n
	})
	rows, next := paged(h, listChannels, found.Sorted(), n, func(c *hub.Channel) []byte { return []byte(c.Name) })
	return rows, next, err
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
