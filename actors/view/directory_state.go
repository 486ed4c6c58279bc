package view

import (
	"cmp"
	"slices"

	"hubcli/actors/core"
	"hubcli/hub"
)

// directoryVersion is that of the encoding of directoryState.
const directoryVersion = 1

// directoryState is the view in a checkpoint: live sessions only.
type directoryState struct {
	Sessions []hub.Session   `json:"sessions"`
	PriorKey []hub.SessionID `json:"prior_key,omitempty"`
	Channels int64           `json:"channels"`
	// Creators counts the channels that are not archived, by their creators. Earlier versions
	// did not.
	Creators map[hub.AgentID]int `json:"creators,omitempty"`
}

// Snapshot returns what a checkpoint keeps of the directory, and the head that it
// belongs to.
func (d *Directory) Snapshot() (state directoryState, head core.Head) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	state = directoryState{Sessions: []hub.Session{}, Channels: d.channels, Creators: d.Channels.Taken()}
	for _, p := range d.live {
		state.Sessions = append(state.Sessions, p.row())
		if p.priorKey {
			state.PriorKey = append(state.PriorKey, p.session.SessionID)
		}
	}
	slices.SortFunc(state.Sessions, func(a, b hub.Session) int { return cmp.Compare(a.AgentID, b.AgentID) })
	slices.Sort(state.PriorKey)
	return state, d.head
}

func (d *Directory) restore(s directoryState) {
	for _, row := range s.Sessions {
		d.put(row, slices.Contains(s.PriorKey, row.SessionID))
		d.live[row.AgentID].acted.Store(0) // LastSeen may be a poll's
	}
	d.channels = s.Channels
	d.Channels.replace(s.Creators)
}
