package view

import (
	"cmp"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Waiters shows which agents wait for a lease, in their order, and which for the answer to a
// message or in a watch. The queues of leases are in memory and belong to their owners alone, so each owner notes
// here what it parks. All methods may be called from any goroutine.
type Waiters struct {
	changes *Changes
	mu      sync.Mutex
	lines   map[core.LeaseKey][]*Waiter
	agents  map[hub.AgentID][]core.LeaseKey // that each agent waits for, a key once per call
	asked   map[hub.AgentID][]hub.MessageID // whose answers each agent waits for, an id once per call
	expects map[hub.AgentID][]*expectation  // its watches
}

// expectation is one watch that waits. The conditions are not changed.
type expectation struct {
	until []hub.Condition
	since hub.Time
}

// Waiter is one call that waits for a lease.
type Waiter struct {
	key core.LeaseKey
	row hub.LeaseWaiter
}

func newWaiters(c *Changes) *Waiters {
	return &Waiters{changes: c, lines: map[core.LeaseKey][]*Waiter{}, agents: map[hub.AgentID][]core.LeaseKey{}, asked: map[hub.AgentID][]hub.MessageID{}, expects: map[hub.AgentID][]*expectation{}}
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

// Await notes that a call of agent waits for the answer to a message. The returned function notes
// that it waits no longer.
func (w *Waiters) Await(agent hub.AgentID, id hub.MessageID) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[agent] = append(w.asked[agent], id)
	w.changes.Note(hub.ChangedAgents)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		ids := w.asked[agent]
		if i := slices.Index(ids, id); i >= 0 {
			ids = slices.Delete(ids, i, i+1)
		}
		if len(ids) == 0 {
			delete(w.asked, agent)
		} else {
			w.asked[agent] = ids
		}
		w.changes.Note(hub.ChangedAgents)
	}
}

// Awaits returns the messages for whose answers an agent waits, rising.
func (w *Waiters) Awaits(agent hub.AgentID) []hub.MessageID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.asked[agent])))
}

// Expect notes that a watch of agent waits, since a moment, until conditions hold. A stream is no such
// watch: its agent goes on beside it. The returned function notes that it waits no longer.
func (w *Waiters) Expect(agent hub.AgentID, until []hub.Condition, since hub.Time) (leave func()) {
	e := &expectation{until, since}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expects[agent] = append(w.expects[agent], e)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.expects[agent] = slices.DeleteFunc(w.expects[agent], func(other *expectation) bool { return other == e })
		if len(w.expects[agent]) == 0 {
			delete(w.expects, agent)
		}
	}
}

// of returns what an agent waits for with its calls.
func (w *Waiters) of(agent hub.AgentID) (leases []core.LeaseKey, answers []hub.MessageID, watches []*expectation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.agents[agent]), slices.Clone(w.asked[agent]), slices.Clone(w.expects[agent])
}

// Of returns who waits for the lease that holder holds, the first in line first, at most
// hub.MaxLeaseWaiters. Of a file lock these are also the agents that wait for one which it overlaps,
// unless holder is empty.
func (w *Waiters) Of(k core.LeaseKey, holder hub.AgentID) []hub.LeaseWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rows []hub.LeaseWaiter
	for _, waiter := range w.lines[k] {
		rows = append(rows, waiter.row)
	}
	if k.Space == core.SpaceLock && holder != "" {
		for other, line := range w.lines {
			if other == k || !other.Overlap(k) {
				continue
			}
			for _, waiter := range line {
				if waiter.row.AgentID != holder {
					rows = append(rows, waiter.row)
				}
			}
		}
		slices.SortStableFunc(rows, func(a, b hub.LeaseWaiter) int { return cmp.Compare(a.Since, b.Since) })
	}
	return rows[:min(len(rows), hub.MaxLeaseWaiters)]
}
