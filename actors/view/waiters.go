package view

import (
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/circle"
)

// Waiters shows which agents wait for a lease, in their order. The queues of leases are
// in memory and belong to their owners alone, so each owner notes here what it parks. All
// methods may be called from any goroutine.
type Waiters struct {
	changes *Changes
	mu      sync.Mutex
	lines   map[core.LeaseKey][]*Waiter
	agents  map[hub.AgentID][]core.LeaseKey // that each agent waits for, a key once per call
}

// Waiter is one call that waits for a lease.
type Waiter struct {
	key core.LeaseKey
	row hub.LeaseWaiter
}

func newWaiters(c *Changes) *Waiters {
	return &Waiters{changes: c, lines: map[core.LeaseKey][]*Waiter{}, agents: map[hub.AgentID][]core.LeaseKey{}}
}

// Arrive notes that a call of agent waits for the lease from a moment on. The result is
// for Leave.
func (w *Waiters) Arrive(k core.LeaseKey, agent hub.AgentID, since hub.Time) *Waiter {
	waiter := &Waiter{key: k, row: hub.LeaseWaiter{AgentID: agent, Since: since}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[k] = append(w.lines[k], waiter)
	w.agents[agent] = append(w.agents[agent], k)
	w.changes.Note(hub.ChangedLeases)
	return waiter
}

// Leave notes that a call waits no longer.
func (w *Waiters) Leave(waiter *Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[waiter.key]
	if i := slices.Index(line, waiter); i >= 0 {
		line = slices.Delete(line, i, i+1)
	}
	if len(line) == 0 {
		delete(w.lines, waiter.key)
	} else {
		w.lines[waiter.key] = line
	}
	agent := waiter.row.AgentID
	keys := w.agents[agent]
	if i := slices.Index(keys, waiter.key); i >= 0 {
		keys = slices.Delete(keys, i, i+1)
	}
	if len(keys) == 0 {
		delete(w.agents, agent)
	} else {
		w.agents[agent] = keys
	}
	w.changes.Note(hub.ChangedLeases)
}

// Circle returns the agents that would wait for each other because of a call that has arrived:
// its own agent, the holder of its lease, the holder that this one waits for, and so on, the
// shortest way around; the last one waits for the first. nil: there is none. next holds the lease
// of the call; holder returns the holder of another one, or "". Of calls that arrive at once, the
// one that looks last sees all.
func (w *Waiters) Circle(waiter *Waiter, next hub.AgentID, holder func(core.LeaseKey) hub.AgentID) []hub.AgentID {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := waiter.row.AgentID
	if next == "" || next == first {
		return nil
	}
	return circle.Around(first, func(at hub.AgentID) (waitsFor []hub.AgentID) {
		if at == first {
			return []hub.AgentID{next} // only the call that has arrived counts
		}
		for _, k := range w.agents[at] {
			if to := holder(k); to != "" {
				waitsFor = append(waitsFor, to)
			}
		}
		return waitsFor
	})
}

// Of returns who waits for the lease, the first in line first, at most
// hub.MaxLeaseWaiters.
func (w *Waiters) Of(k core.LeaseKey) []hub.LeaseWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[k]
	if len(line) == 0 {
		return nil
	}
	rows := make([]hub.LeaseWaiter, 0, min(len(line), hub.MaxLeaseWaiters))
	for _, waiter := range line[:cap(rows)] {
		rows = append(rows, waiter.row)
	}
	return rows
}
