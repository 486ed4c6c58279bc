package view

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// mutes shows which agents the operator has muted. Every post asks it, so that nobody muted
// costs one look at a number.
type mutes struct {
	mu    sync.RWMutex
	held  map[hub.MuteTarget]hub.Mute
	count atomic.Int32
}

func newMutes() *mutes { return &mutes{held: map[hub.MuteTarget]hub.Mute{}} }

// apply takes a committed row of a target.
func (m *mutes) apply(key, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	agent, room, _ := bytes.Cut(key, []byte{0})
	delete(m.held, hub.MuteTarget{AgentID: hub.AgentID(agent), RoomID: hub.RoomID(room)})
	var row hub.Mute
	if json.Unmarshal(value, &row) == nil {
		m.held[row.Target()] = row
	}
	m.count.Store(int32(len(m.held)))
}

// Mutes lists the mutes in force, the earliest first.
func (v *View) Mutes(now hub.Time) []hub.Mute {
	v.mutes.mu.RLock()
	defer v.mutes.mu.RUnlock()
	all := core.SortedMutes(v.mutes.held)
	in := make([]hub.Mute, 0, len(all))
	for i := range all {
		if !all[i].Over(now) {
			in = append(in, all[i])
		}
	}
	return in
}

// RestoreMutes takes the stored rows at a start.
func (v *View) RestoreMutes() error {
	return v.rows.RowsOf(core.TableMute, nil, false, func(key, value []byte) bool {
		v.mutes.apply(key, value)
		return true
	})
}

// Muted returns the mute of what an agent posts in a room, nil if there is none: that of the
// agent everywhere, that of the agent in the room, one of its main agent if it is a sub-agent, or
// that of the room. An empty room is none.
func (v *View) Muted(agent hub.AgentID, room hub.RoomID, now hub.Time) *hub.Mute {
	if v.mutes.count.Load() == 0 || agent == "" {
		return nil
	}
	targets := []hub.MuteTarget{{AgentID: agent}, {AgentID: agent, RoomID: room}, {RoomID: room}}
	for main, ok := agent.MainAgent(); ok; main, ok = main.MainAgent() {
		targets = append(targets, hub.MuteTarget{AgentID: main}, hub.MuteTarget{AgentID: main, RoomID: room})
	}
	v.mutes.mu.RLock()
	defer v.mutes.mu.RUnlock()
	for _, t := range targets {
		if row, held := v.mutes.held[t]; held && !row.Over(now) {
			return &row
		}
	}
	return nil
}

// AnyMute returns the mute of an agent everywhere, else one of those in rooms, the earliest;
// nil: it is muted nowhere.
func (v *View) AnyMute(agent hub.AgentID, now hub.Time) *hub.Mute {
	if m := v.Muted(agent, "", now); m != nil || v.mutes.count.Load() == 0 {
		return m
	}
	for _, m := range v.Mutes(now) {
		if m.AgentID == agent {
			return &m
		}
	}
	return nil
}
