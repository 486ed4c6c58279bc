package view

import (
	"maps"

	"hubcli/hub"
)

// TellsStuck reports whether the room of an agent is to be told that it is stuck: not if it was told
// a short time ago. It notes that the room is told now.
func (d *Directory) TellsStuck(agent hub.AgentID, now hub.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.stuckTold, func(_ hub.AgentID, at hub.Time) bool { return int64(now-at) >= hub.StuckTold.Milliseconds() })
	if _, told := d.stuckTold[agent]; told {
		return false
	}
	d.stuckTold[agent] = now
	return true
}
