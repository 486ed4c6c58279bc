package core

// LeaseQueue holds those who wait for a lease, first come first served per key.
// It is memory only: not journaled and in no snapshot, for a waiter is a parked
// call and ends with the process. The zero LeaseQueue is empty. Not safe for
// concurrent use: the owner of the leases has it.
type LeaseQueue[W any] struct {
	lines    map[LeaseKey]*line[W]
	deadline deadlineHeap[*LeaseWaiter[W]]
	pushed   uint64
}

// LeaseWaiter is one who waits. Value is whatever the owner wants back.
type LeaseWaiter[W any] struct {
	Key      LeaseKey
	Deadline int64 // hub time at which it waits no longer
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

// Len returns how many wait.
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

// Front returns who has waited longest for the key, or nil.
func (q *LeaseQueue[W]) Front(k LeaseKey) *LeaseWaiter[W] {
	if l := q.lines[k]; l != nil {
		return l.front
	}
	return nil
}

// PopFront takes out who has waited longest for the key, or returns nil.
func (q *LeaseQueue[W]) PopFront(k LeaseKey) *LeaseWaiter[W] {
	w := q.Front(k)
	if w != nil {
		q.Remove(w)
	}
	return w
}

// Remove takes a waiter out, wherever it stands. It reports whether it waited.
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

// NextDeadline returns the hub time at which the next waiter has waited enough.
func (q *LeaseQueue[W]) NextDeadline() (hubMS int64, ok bool) {
	first, ok := q.deadline.first()
	if !ok {
		return 0, false
	}
	return first.Deadline, true
}

// TimedOut takes out and returns those whose deadline has come, earliest first.
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

// Keys returns the keys that somebody waits for, in no order.
func (q *LeaseQueue[W]) Keys() []LeaseKey {
	keys := make([]LeaseKey, 0, len(q.lines))
	for k := range q.lines {
		keys = append(keys, k)
	}
	return keys
}
