package view

import "hubcli/hub"

// TellsStuck reports whether the room of an agent is to be told that it is stuck: not if it was told
// a short time ago. It notes that the room is told now.
func (d *Directory) TellsStuck(agent hub.AgentID, now hub.Time) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.live[agent]
	if p == nil {
		return false
	}
	before := p.stuckTold.Load()
	return (before == 0 || int64(now)-before >= hub.StuckTold.Milliseconds()) && p.stuckTold.CompareAndSwap(before, int64(now))
}
