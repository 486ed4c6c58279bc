package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
)

// TestWatchedPageIsShownAgain with each tick, until the context ends or a page fails.
func TestWatchedPageIsShownAgain(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ticks := make(chan time.Time, 2)
	ticks <- time.Time{}
	ticks <- time.Time{}
	shown := 0
	err := again(ctx, ticks, func(context.Context) error {
		if shown++; shown == 3 {
			cancel(errInterrupted)
		}
		return nil
	})
	if !errors.Is(err, errInterrupted) || shown != 3 {
		t.Errorf("%d pages, %v", shown, err)
	}
	lost := hub.NewError(hub.CodeUnreachable, "no hub answers")
	if err := again(t.Context(), nil, func(context.Context) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

// TestRepaintedPageFitsTheScreen: nothing is left of the page before, and the first lines
// stay in sight.
func TestRepaintedPageFitsTheScreen(t *testing.T) {
	if got := repainted([]string{"a", "b"}, 3); got != "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J" {
		t.Errorf("%q", got)
	}
	if got := repainted([]string{"a", "b", "c", "d"}, 4); got != "\x1b[Ha\x1b[K\nb\x1b[K\nand 2 more lines: hubcli status\x1b[K\n\x1b[J" {
		t.Errorf("%q", got)
	}
	if got := repainted([]string{"a", "b"}, 1); strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}
