package require

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// recorder keeps what a test would end with.
type recorder struct{ ended []any }

func (r *recorder) Helper()           {}
func (r *recorder) Fatal(args ...any) { r.ended = append(r.ended, args...) }

func TestNoError(t *testing.T) {
	var r recorder
	if NoError(&r, nil); len(r.ended) != 0 {
		t.Errorf("a test without an error ended with %v", r.ended)
	}
	err := errors.New("broken")
	if NoError(&r, err); !slices.Equal(r.ended, []any{err}) {
		t.Errorf("a test ended with %v, want %v", r.ended, err)
	}
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		looks := 0
		if Eventually(&r, "a third look", func() bool { looks++; return looks == 3 }); looks != 3 || len(r.ended) != 0 {
			t.Errorf("after %d looks the test ended with %v", looks, r.ended)
		}
		began := time.Now()
		// The recorder does not end the test, so the condition has to come after all.
		Eventually(&r, "the end", func() bool { return len(r.ended) != 0 })
		if len(r.ended) != 1 || time.Since(began) < patience {
			t.Errorf("after %s the test ended with %v", time.Since(began), r.ended)
		}
	})
}
