package capsule

import (
	"slices"

	"hubcli/hub"
)

// work checks what tasks and messages say of each other. It takes 4 bytes for each of them,
// and 8 for each task that another one waits for.
type work struct {
	most  Number // the largest number that there can be
	about []about
	// waits are the pairs of a task and one that it waits for, by the first.
	waits []wait
	limit int
	last  Number // of the tasks
	ahead bool   // a task waits for one with a larger number
}

// about is what is known of a number.
type about struct {
	flags uint8
	depth uint8  // of a task
	room  uint16 // of a task, from 1
}

const (
	isMessage  = 1 << iota
	isTask     // it has a line in tasks.ndjson
	isDirect   // a direct message opened the task
	hasResult  // a task names it as the message with its result
	hasWaiting // a task waits for it
)

type wait struct{ task, on uint32 }

func newWork(m *Manifest, l *Limits) work {
	return work{most: Number(m.Counts.Messages + m.Counts.Tasks), limit: l.Waits}
}

// at returns what is known of a number, which must not be beyond most.
func (w *work) at(n Number) *about {
	if n >= Number(len(w.about)) {
		w.about = append(w.about, make([]about, int(n)+1-len(w.about))...)
	}
	return &w.about[n]
}

// in refuses numbers beyond the capsule.
func (w *work) in(numbers ...Number) error {
	for _, n := range numbers {
		if n > w.most {
			return fault("there is no " + numbered(n))
		}
	}
	return nil
}

func (w *work) task(t *Task) error {
	if t.ID <= w.last {
		return fault("the tasks are not sorted by number, or one stands twice")
	}
	w.last = t.ID
	if err := firstOf(w.in(t.ID, t.Result), w.in(t.BlockedBy...)); err != nil {
		return err
	}
	room, _ := t.Room.number('r')
	depth := uint8(1)
	if t.Parent != 0 {
		parent := w.at(t.Parent)
		if parent.flags&isTask == 0 {
			return fault("its parent " + numbered(t.Parent) + " is no task of the capsule")
		}
		if depth = parent.depth + 1; depth > hub.MaxTaskDepth {
			return fault("the task has too many ancestors")
		}
	}
	if t.Result != 0 {
		w.at(t.Result).flags |= hasResult
	}
	for _, on := range t.BlockedBy {
		w.at(on).flags |= hasWaiting
		w.ahead = w.ahead || on > t.ID
		w.waits = append(w.waits, wait{uint32(t.ID), uint32(on)})
	}
	if len(w.waits) > w.limit {
		return tooLarge("the tasks of the capsule wait for too many others", int64(w.limit), int64(len(w.waits)))
	}
	one := w.at(t.ID)
	one.flags |= isTask
	if t.Direct {
		one.flags |= isDirect
	}
	one.depth, one.room = depth, uint16(room)
	return nil
}

func (w *work) message(m *Message, room int64) error {
	if err := w.in(m.ID); err != nil {
		return err
	}
	one := w.at(m.ID)
	switch {
	case one.flags&isMessage != 0:
		return fault("another room has a message of this number")
	case one.flags&isTask == 0:
	case !m.Kind.OpensTask():
		return fault("there is a task of this number, and the message opens none")
	case int64(one.room) != room:
		return fault("the task of this number is in another room")
	case one.flags&isDirect != 0 != (m.To != ""):
		return fault("the task of this number and the message do not agree on whether it is direct")
	}
	one.flags |= isMessage
	return nil
}

// whole looks at what only all lines together tell.
func (w *work) whole() error {
	for n := 1; n < len(w.about); n++ {
		switch flags := w.about[n].flags; {
		case flags&(isMessage|isTask) == 0:
			return invalid("", "no message and no task has the number %d, and larger ones are there", n)
		case flags&hasResult != 0 && flags&isMessage == 0:
			return invalid(nameTasks, "a task names %s as its result, which is no message of the capsule", numbered(Number(n)))
		case flags&hasWaiting != 0 && flags&isTask == 0:
			return invalid(nameTasks, "a task waits for %s, which is no task of the capsule", numbered(Number(n)))
		}
	}
	if !w.ahead {
		return nil // a circle needs a task that waits for a later one
	}
	if n, ok := w.circle(); ok {
		return invalid(nameTasks, "the task %s waits for itself, by way of others", numbered(n))
	}
	return nil
}

// circle finds a task that waits for itself. It takes away tasks that wait for none that is
// left, until none is to be taken; what stays is in a circle or waits for one.
func (w *work) circle() (Number, bool) {
	open := make([]uint32, len(w.about)) // for how many each task still waits
	for _, x := range w.waits {
		open[x.task]++
	}
	slices.SortFunc(w.waits, func(a, b wait) int { return int(a.on) - int(b.on) })
	first := make([]uint32, len(w.about)+1) // where those begin that wait for a task
	for _, x := range w.waits {
		first[x.on+1]++
	}
	for n := 1; n < len(first); n++ {
		first[n] += first[n-1]
	}
	var free []uint32
	for n := range open {
		if open[n] == 0 {
			free = append(free, uint32(n))
		}
	}
	for len(free) > 0 {
		on := free[len(free)-1]
		free = free[:len(free)-1]
		for _, x := range w.waits[first[on]:first[on+1]] {
			if open[x.task]--; open[x.task] == 0 {
				free = append(free, x.task)
			}
		}
	}
	n := slices.IndexFunc(open, func(left uint32) bool { return left > 0 })
	return Number(n), n >= 0
}
