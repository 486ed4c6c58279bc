package view

import (
	"strconv"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Retired shows which agents the operator has retired. Each call of an agent asks it, so that
// nobody retired costs one look at a number.
type Retired struct {
	mu    sync.RWMutex
	since map[hub.AgentID]hub.Time
	count atomic.Int32
}

func newRetired() *Retired { return &Retired{since: map[hub.AgentID]hub.Time{}} }

// apply takes a committed row of an agent. An empty value says that it is back.
func (r *Retired) apply(key, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, err := strconv.ParseInt(string(value), 10, 64)
	if delete(r.since, hub.AgentID(key)); err == nil {
		r.since[hub.AgentID(key)] = hub.Time(at)
	}
	r.count.Store(int32(len(r.since)))
}

// Since returns when an agent was retired; 0: it is not.
func (r *Retired) Since(agent hub.AgentID) hub.Time {
	if r.count.Load() == 0 {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.since[agent]
}

// All returns the retired agents, each with the time of its retirement.
func (r *Retired) All() map[hub.AgentID]hub.Time {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make(map[hub.AgentID]hub.Time, len(r.since))
	for agent, at := range r.since {
		all[agent] = at
	}
	return all
}

// RestoreRetired takes the stored rows at a start.
func (v *View) RestoreRetired() error {
	return v.rows.RowsOf(core.TableRetired, nil, false, func(key, value []byte) bool {
		v.Retired.apply(key, value)
		return true
	})
}
