package require

import (
	"errors"
	"slices"
	"testing"
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
