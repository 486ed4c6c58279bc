package cli

import (
	"context"
	"errors"
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

func TestRepaintedPageLeavesNothingOfTheOneBefore(t *testing.T) {
	if got := repainted("a\nb\n", true); got != "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J" {
		t.Errorf("%q", got)
	}
	if got := repainted("a\n", false); got != "a\n\n" {
		t.Errorf("%q", got)
	}
}
