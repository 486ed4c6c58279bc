package search

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A full disk is told of once, and then at intervals, however often the engine
// tries to save.
func TestUnsavableIndexIsToldOfSparsely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := New("nowhere", "i", slog.New(slog.NewTextHandler(&log, nil)))
		live.Store("path of a test", x)
		defer live.Delete("path of a test")
		lines := func(wait time.Duration) int {
			for range int(wait / (200 * time.Millisecond)) {
				asyncError(errors.New("no space left on device"), "path of a test")
				time.Sleep(200 * time.Millisecond)
			}
			n := strings.Count(log.String(), "could not be saved")
			return n
		}
		if n := lines(time.Minute); n != 1 {
			t.Errorf("%d lines in the first minute, want 1", n)
		}
		if n := lines(10 * time.Minute); n < 2 || n > 3 {
			t.Errorf("%d lines in eleven minutes, want 2 or 3", n)
		}
		if !strings.Contains(log.String(), "since_last_line=1") {
			t.Errorf("the lines do not say how many were kept back: %s", log.String())
		}
	})
}
