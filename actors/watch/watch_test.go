package watch

import (
	"fmt"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestEndedWatchesAreBounded: however many labels there were, few are remembered.
func TestEndedWatchesAreBounded(t *testing.T) {
	s := New(Options{})
	for i := range 10 * watchesKeptMost {
		w := &watch{query: hub.WatchQuery{Agent: "ann", Label: fmt.Sprint(i)}, replaced: make(chan struct{})}
		require.NoError(t, s.enter(w, 1_000))
		s.leave(w, 1_000)
	}
	if n := s.ended.Len(); n != watchesKeptMost || len(s.waiting) != 0 {
		t.Errorf("%d are remembered, %d wait", n, len(s.waiting))
	}
}

// TestEndedWatchIsRemembered: a watch that began before another of its label is
// refused, until the other has ended for longer than watchesKept.
func TestEndedWatchIsRemembered(t *testing.T) {
	const ended = hub.Time(10_000)
	for now, refused := range map[hub.Time]bool{
		ended: true, ended + hub.Time(watchesKept.Milliseconds()): true, ended + hub.Time(watchesKept.Milliseconds()) + 1: false,
	} {
		s := New(Options{})
		began := func(at hub.Time) *watch {
			return &watch{query: hub.WatchQuery{Agent: "ann", Began: at}, replaced: make(chan struct{})}
		}
		later := began(9_000)
		require.NoError(t, s.enter(later, ended))
		s.leave(later, ended)
		if err := s.enter(began(8_000), now); (err != nil) != refused {
			t.Errorf("%d ms after the end: %v", now-ended, err)
		}
	}
}
