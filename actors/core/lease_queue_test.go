package core_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
)

func TestLeaseQueueServesInOrderOfArrival(t *testing.T) {
	var q core.LeaseQueue[string]
	a, b := core.LeaseKey{Space: core.SpaceClaim, Key: "a"}, core.LeaseKey{Space: core.SpaceLock, Key: "a"}
	q.Push(a, 30, "first")
	second := q.Push(a, 10, "second") // gives up earlier, is served later
	q.Push(b, 20, "other key")
	q.Push(a, 30, "third")
	if at, ok := q.NextDeadline(); at != 10 || !ok {
		t.Errorf("next deadline %d, %v", at, ok)
	}
	if w := q.Front(a); w.Value != "first" || !q.Remove(w) {
		t.Errorf("served %q", w.Value)
	}
	if !q.Remove(second) || q.Remove(second) {
		t.Error("a waiter leaves once")
	}
	if w := q.Front(a); w.Value != "third" {
		t.Errorf("front is %q", w.Value)
	}
	out := q.TimedOut(core.Now{HubMS: 30})
	if len(out) != 2 || out[0].Value != "other key" || out[1].Value != "third" || q.Len() != 0 {
		t.Errorf("timed out: %v", out)
	}
	if q.Front(a) != nil || q.Front(b) != nil || len(q.Keys()) != 0 {
		t.Error("an empty queue serves somebody")
	}
	if _, ok := q.NextDeadline(); ok {
		t.Error("an empty queue has a deadline")
	}
}

func TestLeaseQueueClosesTheGaps(t *testing.T) {
	for _, order := range [][]int{{1, 2, 0}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}} {
		var q core.LeaseQueue[int]
		k := core.LeaseKey{Space: core.SpaceClaim, Key: "k"}
		line := []*core.LeaseWaiter[int]{q.Push(k, 1, 0), q.Push(k, 1, 1), q.Push(k, 1, 2)}
		left := slices.Clone(line)
		for _, i := range order {
			if !q.Remove(line[i]) {
				t.Errorf("order %v: %d did not wait", order, i)
			}
			left = slices.DeleteFunc(left, func(w *core.LeaseWaiter[int]) bool { return w == line[i] })
			if front := q.Front(k); len(left) == 0 && front != nil || len(left) > 0 && front != left[0] {
				t.Errorf("order %v, without %d: the front is %v", order, i, front)
			}
		}
	}
}

// The queue behaves as a plain list that is searched.
func TestLeaseQueueModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q core.LeaseQueue[int]
		var model []*core.LeaseWaiter[int] // in order of arrival
		var gone []*core.LeaseWaiter[int]
		keys := []core.LeaseKey{{Space: core.SpaceClaim, Key: "a"}, {Space: core.SpaceClaim, Key: "b"}, {Space: core.SpaceLock, Key: "a"}}
		key := rapid.SampledFrom(keys)
		now, pushed := int64(0), 0
		leave := func(w *core.LeaseWaiter[int]) {
			i := slices.Index(model, w)
			if i < 0 {
				rt.Fatalf("waiter %v left twice or never came", w.Value)
			}
			model = slices.Delete(model, i, i+1)
			gone = append(gone, w)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				pushed++
				model = append(model, q.Push(key.Draw(rt, "key"), now+rapid.Int64Range(0, 50).Draw(rt, "wait"), pushed))
			},
			"pop": func(rt *rapid.T) {
				k := key.Draw(rt, "key")
				i := slices.IndexFunc(model, func(w *core.LeaseWaiter[int]) bool { return w.Key == k })
				w := q.Front(k)
				if i < 0 != (w == nil) || i >= 0 && w != model[i] {
					rt.Fatalf("popped %v", w)
				}
				if w != nil {
					q.Remove(w)
					leave(w)
				}
			},
			"remove": func(rt *rapid.T) {
				if len(model) > 0 {
					w := rapid.SampledFrom(model).Draw(rt, "waiter")
					if !q.Remove(w) {
						rt.Fatalf("a waiter could not leave")
					}
					leave(w)
				}
				if len(gone) > 0 && q.Remove(rapid.SampledFrom(gone).Draw(rt, "gone")) {
					rt.Fatalf("a waiter left twice")
				}
			},
			"time passes": func(rt *rapid.T) {
				now += rapid.Int64Range(0, 40).Draw(rt, "ms")
				for _, w := range q.TimedOut(core.Now{HubMS: now}) {
					if w.Deadline > now {
						rt.Fatalf("waiter timed out early")
					}
					leave(w)
				}
			},
			"": func(rt *rapid.T) {
				if q.Len() != len(model) {
					rt.Fatalf("%d wait, %d should", q.Len(), len(model))
				}
				next, ok := q.NextDeadline()
				if ok != (len(model) > 0) {
					rt.Fatalf("next deadline %v", ok)
				}
				for _, w := range model {
					if w.Deadline < next {
						rt.Fatalf("next deadline %d is after %d", next, w.Deadline)
					}
				}
			},
		})
	})
}
