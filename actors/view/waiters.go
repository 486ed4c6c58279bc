package view

import (
	"cmp"
	"slices"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/circle"
)

// Waiters shows which agents wait for a lease, in their order, and which for the answer to a
// message. The queues of leases are in memory and belong to their owners alone, so each owner notes
// here what it parks. All methods may be called from any goroutine.
type Waiters struct {
	changes *Changes
	mu      sync.Mutex
	lines   map[core.LeaseKey][]*Waiter
	agents  map[hub.AgentID][]core.LeaseKey // that each agent waits for, a key once per call
	asked   map[hub.AgentID][]hub.MessageID // whose answers each agent waits for, an id once per call
}

// Waiter is one call that waits for a lease.
type Waiter struct {
	key core.LeaseKey
	row hub.LeaseWaiter
}

func newWaiters(c *Changes) *Waiters {
	return &Waiters{changes: c, lines: map[core.LeaseKey][]*Waiter{}, agents: map[hub.AgentID][]core.LeaseKey{}, asked: map[hub.AgentID][]hub.MessageID{}}
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

// Waits reports whether a call of an agent waits for a lease or for an answer.
func (w *Waiters) Waits(agent hub.AgentID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.agents[agent]) > 0 || len(w.asked[agent]) > 0
}

// circle returns the agents that would wait for each other because of a call of first that waits
// for all of next: first, one of next, an agent that this one waits for, and so on, the shortest way
// around; the last one waits for the first. nil: there is none. holders returns the agents that keep
// an agent from a lease, and answers the agent that has to answer a message; "": there is none. Of
// calls that arrive at once, the one that looks last sees all.
func (w *Waiters) circle(first hub.AgentID, next []hub.AgentID, holders func(core.LeaseKey, hub.AgentID) []hub.AgentID, answers func(hub.MessageID) hub.AgentID) []hub.AgentID {
	next = slices.DeleteFunc(slices.Clone(next), func(a hub.AgentID) bool { return a == "" || a == first })
	if len(next) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return circle.Around(first, func(at hub.AgentID) (waitsFor []hub.AgentID) {
		if at == first {
			return next // only the call that has arrived counts
		}
		for _, k := range w.agents[at] {
			waitsFor = append(waitsFor, holders(k, at)...)
		}
		for _, id := range w.asked[at] {
			if to := answers(id); to != "" {
				waitsFor = append(waitsFor, to)
			}
		}
		return waitsFor
	})
}

// Circle returns the agents that would wait for each other because a call of first, which has
// arrived, waits for all of next; see Waiters.
func (v *View) Circle(first hub.AgentID, next []hub.AgentID) []hub.AgentID {
	return v.Waiters.circle(first, next, v.Leases.Blockers, v.Answers)
}

// Answers returns the agent that has to answer a message: the assignee of the task that it opened,
// else the agent that it is addressed to; "": there is none, or the task has ended.
func (v *View) Answers(id hub.MessageID) hub.AgentID {
	if t, err := v.AnyTask(id); err == nil {
		if t.Task.Status.Terminal() || t.Task.Assignee == nil {
			return ""
		}
		return *t.Task.Assignee
	}
	m, err := v.Message(id)
	if err != nil {
		return ""
	}
	return m.To
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
