package view

import (
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Waiters shows which agents wait for a lease, in their order. The queues of leases are
// in memory and belong to their owners alone, so each owner notes here what it parks. All
// methods may be called from any goroutine.
type Waiters struct {
	changes *Changes
	mu      sync.Mutex
	lines   map[core.LeaseKey][]*Waiter
}

// Waiter is one call that waits for a lease.
type Waiter struct {
	key core.LeaseKey
	row hub.LeaseWaiter
}

func newWaiters(c *Changes) *Waiters {
	return &Waiters{changes: c, lines: map[core.LeaseKey][]*Waiter{}}
}

// Arrive notes that a call of agent waits for the lease from a moment on. The result is
// for Leave.
func (w *Waiters) Arrive(k core.LeaseKey, agent hub.AgentID, since hub.Time) *Waiter {
	waiter := &Waiter{key: k, row: hub.LeaseWaiter{AgentID: agent, Since: since}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[k] = append(w.lines[k], waiter)
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
	w.changes.Note(hub.ChangedLeases)
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
