package core

import "container/heap"

// deadlineItem is something with a deadline that knows its place in the heap, so
// that it can be moved or taken out in O(log n).
type deadlineItem[E any] interface {
	before(other E) bool
	place() int
	setPlace(i int)
}

// deadlineHeap keeps the earliest item at index 0. The zero heap is empty.
type deadlineHeap[E deadlineItem[E]] struct{ items []E }

// Len, Less, Swap, Push and Pop serve container/heap alone.
func (h *deadlineHeap[E]) Len() int           { return len(h.items) }
func (h *deadlineHeap[E]) Less(i, j int) bool { return h.items[i].before(h.items[j]) }

func (h *deadlineHeap[E]) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].setPlace(i)
	h.items[j].setPlace(j)
}

func (h *deadlineHeap[E]) Push(x any) {
	e := x.(E)
	e.setPlace(len(h.items))
	h.items = append(h.items, e)
}

func (h *deadlineHeap[E]) Pop() any {
	last := len(h.items) - 1
	e := h.items[last]
	var zero E
	h.items[last] = zero
	h.items = h.items[:last]
	if last == 0 {
		h.items = nil // an idle owner keeps no memory of its busiest moment
	}
	e.setPlace(-1)
	return e
}

func (h *deadlineHeap[E]) add(e E)    { heap.Push(h, e) }
func (h *deadlineHeap[E]) moved(e E)  { heap.Fix(h, e.place()) }
func (h *deadlineHeap[E]) remove(e E) { heap.Remove(h, e.place()) }

func (h *deadlineHeap[E]) first() (e E, ok bool) {
	if len(h.items) == 0 {
		return e, false
	}
	return h.items[0], true
}

// due returns at most limit items for which isDue holds, earliest first, and
// leaves them in the heap. If isDue holds for an item, it must hold for all
// earlier items. The cost is O(k log k) for k returned items, whatever the
// heap's size.
func (h *deadlineHeap[E]) due(limit int, isDue func(E) bool) []E {
	if len(h.items) == 0 || limit <= 0 || !isDue(h.items[0]) {
		return nil
	}
	var out []E
	// The next item is always a child of an item that was already returned.
	next := &frontier[E]{heap: h, index: []int{0}}
	for len(next.index) > 0 && len(out) < limit {
		i := heap.Pop(next).(int)
		out = append(out, h.items[i])
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if isDue(h.items[child]) {
				heap.Push(next, child)
			}
		}
	}
	return out
}

// frontier is a heap of places in another heap.
type frontier[E deadlineItem[E]] struct {
	heap  *deadlineHeap[E]
	index []int
}

func (f *frontier[E]) Len() int           { return len(f.index) }
func (f *frontier[E]) Less(i, j int) bool { return f.heap.Less(f.index[i], f.index[j]) }
func (f *frontier[E]) Swap(i, j int)      { f.index[i], f.index[j] = f.index[j], f.index[i] }
func (f *frontier[E]) Push(x any)         { f.index = append(f.index, x.(int)) }

func (f *frontier[E]) Pop() any {
	last := len(f.index) - 1
	i := f.index[last]
	f.index = f.index[:last]
	return i
}
