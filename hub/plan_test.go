package hub_test

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// TestPlanOrder: every task stands behind all that it waits for, and a plan
// with a circle has no order.
func TestPlanOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := make([]hub.PlannedTask, rapid.IntRange(1, 8).Draw(t, "tasks"))
		want := make([][]int, len(tasks))
		for i := range tasks {
			want[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, len(tasks)-1), 0, len(tasks)-1, rapid.ID[int]).Draw(t, "after")
			for _, at := range want[i] {
				tasks[i].After = append(tasks[i].After, strconv.Itoa(at+1))
			}
		}
		after, order, err := hub.PlanOrder(tasks)
		if err != nil {
			if !circular(want) {
				t.Fatalf("%+v has no order: %v", tasks, err)
			}
			return
		}
		if len(order) != len(tasks) || circular(want) || !slices.EqualFunc(after, want, slices.Equal[[]int]) {
			t.Fatalf("%+v has the order %v and waits for %v", tasks, order, after)
		}
		for at, i := range order {
			for _, before := range after[i] {
				if !slices.Contains(order[:at], before) {
					t.Fatalf("%v begins %d before %d", order, i, before)
				}
			}
		}
	})
}

// circular reports whether a task waits for itself, by following every path.
func circular(after [][]int) bool {
	var on []int
	var follow func(i int) bool
	follow = func(i int) bool {
		if slices.Contains(on, i) {
			return true
		}
		on = append(on, i)
		found := slices.ContainsFunc(after[i], follow)
		on = on[:len(on)-1]
		return found
	}
	for i := range after {
		if follow(i) {
			return true
		}
	}
	return false
}
