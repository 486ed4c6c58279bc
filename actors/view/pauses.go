package view

import (
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Pauses lists the pauses in force, the earliest first.
func (v *View) Pauses() []hub.Pause { return v.pauses.list(nil) }

// Paused returns the pause that stops what agent does in room, nil if there is none: that of
// everything, of the agent, of its main agent if it is a sub-agent, of the room, or of the room that the agent joined last, or works
// in if it has joined none. An empty room is none. No pause stops a call that names no agent.
func (v *View) Paused(agent hub.AgentID, room hub.RoomID) (*hub.Pause, error) {
	if v.pauses.none() || agent == "" || agent.Reserved() {
		return nil, nil
	}
	targets := []hub.PauseTarget{{All: true}, {AgentID: agent}}
	for main, ok := agent.MainAgent(); ok; main, ok = main.MainAgent() {
		targets = append(targets, hub.PauseTarget{AgentID: main})
	}
	if ofRooms := v.pauses.list(func(p *hub.Pause) bool { return p.RoomID != nil }); len(ofRooms) > 0 {
		if room != "" {
			targets = append(targets, hub.PauseTarget{RoomID: room})
		}
		rooms, err := v.RoomsOf(agent)
		switch {
		case err != nil:
			return nil, err
		case len(rooms) > 0:
			targets = append(targets, hub.PauseTarget{RoomID: rooms[0]})
		default:
			if targets, err = v.seatedIn(ofRooms, targets, agent); err != nil {
				return nil, err
			}
		}
	}
	return v.pauses.first(nil, targets...), nil
}

// seatedIn appends the paused rooms in which an agent works that has joined none.
func (v *View) seatedIn(paused []hub.Pause, targets []hub.PauseTarget, agent hub.AgentID) ([]hub.PauseTarget, error) {
	for _, p := range paused {
		switch _, err := v.SeatOf(*p.RoomID, agent); {
		case err == nil:
			targets = append(targets, p.Target())
		case !errors.Is(err, core.ErrNotFound):
			return nil, err
		}
	}
	return targets, nil
}

// RefusePaused returns the error paused for what a caller does as agent in room, if a
// pause stops it. The operator is never paused.
func (v *View) RefusePaused(caller *hub.Caller, agent hub.AgentID, room hub.RoomID) error {
	if caller.Operator {
		return nil
	}
	p, err := v.Paused(agent, room)
	if err != nil || p == nil {
		return err
	}
	return hub.NewError(hub.CodePaused, p.String()).With("pause", p)
}
