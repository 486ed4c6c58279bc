package hub_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hubcli/hub"
)

// listOf answers so many numbers from a cursor on, as a hub would.
func listOf(total int) func(context.Context, hub.ProjectsQuery) ([]int, hub.Cursor, error) {
	return func(_ context.Context, q hub.ProjectsQuery) (rows []int, next hub.Cursor, err error) {
		for n := len(q.Cursor); n < total; n++ {
			if len(rows) == q.Limit {
				return rows, hub.Cursor(make([]byte, n)), nil
			}
			rows = append(rows, n)
		}
		return rows, "", nil
	}
}

func TestWalk(t *testing.T) {
	for total := range 8 {
		want := make([]int, total)
		for i := range want {
			want[i] = i
		}
		for limit := 1; limit < 5; limit++ {
			if got, err := hub.All(t.Context(), listOf(total), hub.ProjectsQuery{Limit: limit}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows in pages of %d: got %v, %v", total, limit, got, err)
			}
		}
	}
	n := 0
	for range hub.Walk(t.Context(), listOf(100), hub.ProjectsQuery{Limit: 3}) {
		if n++; n == 5 {
			break
		}
	}
	if n != 5 {
		t.Errorf("the walk went on to %d rows", n)
	}
}

// TestWalkThatCannotGoOn: an error ends a walk, and so does a hub that leads in a
// circle.
func TestWalkThatCannotGoOn(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	_, err := hub.All(t.Context(), func(context.Context, hub.ProjectsQuery) ([]int, hub.Cursor, error) {
		if calls++; calls == 2 {
			return nil, "", broken
		}
		return []int{1}, "on", nil
	}, hub.ProjectsQuery{})
	if !errors.Is(err, broken) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
	calls = 0
	_, err = hub.All(t.Context(), func(context.Context, hub.ProjectsQuery) ([]int, hub.Cursor, error) {
		calls++
		return []int{1}, "same", nil
	}, hub.ProjectsQuery{})
	if !errors.Is(err, &hub.Error{Code: hub.CodeInternal}) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
