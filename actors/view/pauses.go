package view

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// pauses shows what the operator has paused. Every command of an agent asks it, so that
// nothing paused costs one look at a number.
type pauses struct {
	mu    sync.RWMutex
	held  map[hub.PauseTarget]hub.Pause
	count atomic.Int32
	rooms atomic.Int32 // how many of them are of rooms
}

func newPauses() *pauses { return &pauses{held: map[hub.PauseTarget]hub.Pause{}} }

// apply takes a committed row of a target.
func (p *pauses) apply(key, value []byte) {
	var row hub.Pause
	over := json.Unmarshal(value, &row) != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	for target := range p.held {
		if string(core.PauseKey(target)) == string(key) {
			delete(p.held, target)
		}
	}
	if !over {
		p.held[row.Target()] = row
	}
	rooms := 0
	for target := range p.held {
		if target.RoomID != "" {
			rooms++
		}
	}
	p.count.Store(int32(len(p.held)))
	p.rooms.Store(int32(rooms))
}

func (p *pauses) of(t hub.PauseTarget) *hub.Pause {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if row, ok := p.held[t]; ok {
		return &row
	}
	return nil
}

// Pauses lists the pauses in force, the earliest first.
func (v *View) Pauses() []hub.Pause {
	v.pauses.mu.RLock()
	defer v.pauses.mu.RUnlock()
	return core.SortedPauses(v.pauses.held)
}

// RestorePauses takes the stored rows at a start.
func (v *View) RestorePauses() error {
	return v.rows.RowsOf(core.TablePause, nil, false, func(key, value []byte) bool {
		v.pauses.apply(key, value)
		return true
	})
}

// Paused returns the pause that stops what agent does in room, nil if there is none: that of
// everything, of the agent, of its main agent if it is a sub-agent, of the room, or of the room that the agent joined last, or works
// in if it has joined none. An empty room is none. No pause stops a call that names no agent.
func (v *View) Paused(agent hub.AgentID, room hub.RoomID) (*hub.Pause, error) {
	if v.pauses.count.Load() == 0 || agent == "" || agent.Reserved() {
		return nil, nil
	}
	targets := []hub.PauseTarget{{All: true}, {AgentID: agent}}
	for main, ok := agent.MainAgent(); ok; main, ok = main.MainAgent() {
		targets = append(targets, hub.PauseTarget{AgentID: main})
	}
	if v.pauses.rooms.Load() > 0 {
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
			if targets, err = v.seatedIn(targets, agent); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range targets {
		if p := v.pauses.of(t); p != nil {
			return p, nil
		}
	}
	return nil, nil
}

// seatedIn appends the paused rooms in which an agent works that has joined none.
func (v *View) seatedIn(targets []hub.PauseTarget, agent hub.AgentID) ([]hub.PauseTarget, error) {
	for _, p := range v.Pauses() {
		if p.RoomID == nil {
			continue
		}
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
