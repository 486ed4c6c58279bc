package core

import (
	"cmp"
	"maps"
	"slices"
)

// LeaseQueue holds the calls that wait for a lease, first come first served per
// key. It is in memory only, neither journaled nor in a snapshot: a waiter is a
// parked call and ends with the process. The zero LeaseQueue is empty. It is
// not safe for concurrent use; the owner of the leases uses it.
type LeaseQueue[W any] struct {
	lines    map[LeaseKey]*line[W]
	deadline deadlineHeap[*LeaseWaiter[W]]
	pushed   uint64
}

// LeaseWaiter is one waiting call. Value is the caller's own data.
type LeaseWaiter[W any] struct {
	Key      LeaseKey
	Deadline int64 // hub time in ms at which it stops waiting
	Value    W

	order      uint64 // of arrival
	heapPlace  int    // -1 once it has left
	prev, next *LeaseWaiter[W]
}

type line[W any] struct{ front, back *LeaseWaiter[W] }

func (w *LeaseWaiter[W]) before(o *LeaseWaiter[W]) bool {
	if w.Deadline != o.Deadline {
		return w.Deadline < o.Deadline
	}
	return w.order < o.order
}
func (w *LeaseWaiter[W]) place() int     { return w.heapPlace }
func (w *LeaseWaiter[W]) setPlace(i int) { w.heapPlace = i }

// Len returns the number of waiters.
func (q *LeaseQueue[W]) Len() int { return q.deadline.Len() }

// Push puts a waiter at the end of the key's line and returns what Remove needs.
func (q *LeaseQueue[W]) Push(k LeaseKey, deadlineHubMS int64, value W) *LeaseWaiter[W] {
	if q.lines == nil {
		q.lines = map[LeaseKey]*line[W]{}
	}
	q.pushed++
	w := &LeaseWaiter[W]{Key: k, Deadline: deadlineHubMS, Value: value, order: q.pushed}
	l := q.lines[k]
	if l == nil {
		l = &line[W]{front: w}
		q.lines[k] = l
	} else {
		w.prev, l.back.next = l.back, w
	}
	l.back = w
	q.deadline.add(w)
	return w
}

// Front returns the waiter that has waited longest for the key, or nil.
func (q *LeaseQueue[W]) Front(k LeaseKey) *LeaseWaiter[W] {
	if l := q.lines[k]; l != nil {
		return l.front
	}
	return nil
}

// Find returns the first waiter for the key that keep keeps, or nil.
func (q *LeaseQueue[W]) Find(k LeaseKey, keep func(W) bool) *LeaseWaiter[W] {
	w := q.Front(k)
	for w != nil && !keep(w.Value) {
		w = w.next
	}
	return w
}

// Remove removes a waiter from any place. It reports whether the waiter was in
// the queue.
func (q *LeaseQueue[W]) Remove(w *LeaseWaiter[W]) bool {
	if w.heapPlace < 0 {
		return false
	}
	q.deadline.remove(w)
	l := q.lines[w.Key]
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.front = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.back = w.prev
	}
	w.prev, w.next = nil, nil
	if l.front == nil {
		delete(q.lines, w.Key)
		if len(q.lines) == 0 {
			q.lines = nil // maps do not shrink
		}
	}
	return true
}

// NextDeadline returns the hub time at which the next waiter times out.
func (q *LeaseQueue[W]) NextDeadline() (hubMS int64, ok bool) {
	first, ok := q.deadline.first()
	if !ok {
		return 0, false
	}
	return first.Deadline, true
}

// TimedOut removes and returns the waiters whose deadline has passed, earliest
// first.
func (q *LeaseQueue[W]) TimedOut(now Now) []*LeaseWaiter[W] {
	var out []*LeaseWaiter[W]
	for {
		first, ok := q.deadline.first()
		if !ok || first.Deadline > now.HubMS {
			return out
		}
		q.Remove(first)
		out = append(out, first)
	}
}

// Keys returns the keys that have waiters, that of the waiter that came first before the others.
func (q *LeaseQueue[W]) Keys() []LeaseKey {
	keys := slices.Collect(maps.Keys(q.lines))
	slices.SortFunc(keys, func(a, b LeaseKey) int { return cmp.Compare(q.lines[a].front.order, q.lines[b].front.order) })
	return keys
}
