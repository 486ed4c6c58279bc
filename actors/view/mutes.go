package view

import "hubcli/hub"

// Mutes lists the mutes in force, the earliest first.
func (v *View) Mutes(now hub.Time) []hub.Mute { return v.mutes.list(inForce(now)) }

func inForce(now hub.Time) func(*hub.Mute) bool {
	return func(m *hub.Mute) bool { return !m.Over(now) }
}

// Muted returns the mute of what an agent posts in a room, nil if there is none: that of the
// agent everywhere, that of the agent in the room, one of its main agent if it is a sub-agent, or
// that of the room. An empty room is none.
func (v *View) Muted(agent hub.AgentID, room hub.RoomID, now hub.Time) *hub.Mute {
	if v.mutes.none() || agent == "" {
		return nil
	}
	targets := []hub.MuteTarget{{AgentID: agent}, {AgentID: agent, RoomID: room}, {RoomID: room}}
	for main, ok := agent.MainAgent(); ok; main, ok = main.MainAgent() {
		targets = append(targets, hub.MuteTarget{AgentID: main}, hub.MuteTarget{AgentID: main, RoomID: room})
	}
	return v.mutes.first(inForce(now), targets...)
}

// AnyMute returns the mute of an agent everywhere, else one of those in rooms, the earliest;
// nil: it is muted nowhere.
func (v *View) AnyMute(agent hub.AgentID, now hub.Time) *hub.Mute {
	if m := v.Muted(agent, "", now); m != nil || v.mutes.none() {
		return m
	}
	for _, m := range v.Mutes(now) {
		if m.AgentID == agent {
			return &m
		}
	}
	return nil
}
