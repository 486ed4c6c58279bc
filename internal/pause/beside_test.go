package pause

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBesideRestsWhileSomethingIsUrgent works for a part of the quantum at a time and looks
// how long that takes.
func TestBesideRestsWhileSomethingIsUrgent(t *testing.T) {
	const pieces, piece = 1_600, besideQuantum / besideLooks
	took := func(urgent func() bool) (all time.Duration) {
		synctest.Test(t, func(*testing.T) {
			began, b := time.Now(), NewBeside(urgent)
			for range pieces {
				time.Sleep(piece)
				b.Rest()
			}
			all = time.Since(began)
		})
		return all
	}
	const work = pieces * piece
	if got := took(func() bool { return false }); got != work {
		t.Errorf("with nothing urgent it took %s, want %s", got, work)
	}
	if got, want := took(func() bool { return true }), work+pieces/besideLooks*besideLongest; got != want {
		t.Errorf("with always something urgent it took %s, want %s", got, want)
	}
	asked := 0
	once := func() bool { asked++; return asked%2 == 1 } // over after one step
	if got, want := took(once), work+pieces/besideLooks*besideStep; got != want {
		t.Errorf("with short calls it took %s, want %s", got, want)
	}
}
