package watch

import (
	"fmt"
	"testing"

	"hubcli/hub"
)

// TestEndedWatchesAreBounded: however many labels there were, few are remembered.
func TestEndedWatchesAreBounded(t *testing.T) {
	s := New(Options{})
	for i := range 10 * watchesKeptMost {
		w := &watch{query: hub.WatchQuery{Agent: "ann", Label: fmt.Sprint(i)}, replaced: make(chan struct{})}
		if err := s.enter(w, 1_000); err != nil {
			t.Fatal(err)
		}
		s.leave(w, 1_000)
	}
	if n := len(s.ended) + len(s.endedBefore); n > 2*watchesKeptMost || n < watchesKeptMost || len(s.waiting) != 0 {
		t.Errorf("%d are remembered, %d wait", n, len(s.waiting))
	}
}
