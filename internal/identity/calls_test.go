package identity

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/internal/require"
)

// TestCallsAreNotedAndTakenOnce: a bridge learns once who makes a call. What it cannot believe
// counts as nothing, and what nobody takes is swept after an hour.
func TestCallsAreNotedAndTakenOnce(t *testing.T) {
	s := SessionsOf(t.TempDir())
	if _, ok := s.TakeCall("toolu_1"); ok {
		t.Error("a call of which nothing is noted has a caller")
	}
	require.NoError(t, s.NoteCall("toolu_1", Caller{SubAgent: "a1"}))
	require.NoError(t, s.NoteCall("toolu_2", Caller{}))
	for call, want := range map[string]string{"toolu_1": "a1", "toolu_2": ""} {
		if by, ok := s.TakeCall(call); !ok || by.SubAgent != want {
			t.Errorf("%s is by %+v, %v", call, by, ok)
		}
		if by, ok := s.TakeCall(call); ok {
			t.Errorf("%s is taken twice: %+v", call, by)
		}
	}
	for _, call := range []string{"", strings.Repeat("x", maxCallID+1)} {
		if err := s.NoteCall(call, Caller{}); !errors.Is(err, errNotKept) {
			t.Errorf("a call of %d bytes: %v", len(call), err)
		}
	}
	if err := s.NoteCall("toolu_3", Caller{SubAgent: strings.Repeat("x", maxCallID+1)}); !errors.Is(err, errNotKept) {
		t.Errorf("a long name: %v", err)
	}
	if err := SessionsOf("").NoteCall("toolu_3", Caller{}); !errors.Is(err, errNotKept) {
		t.Errorf("without a data root: %v", err)
	}
	require.NoError(t, os.WriteFile(s.callPath("toolu_4"), []byte("rubbish"), 0o600))
	if by, ok := s.TakeCall("toolu_4"); ok {
		t.Errorf("a damaged note says %+v", by)
	}
	require.NoError(t, s.NoteCall("toolu_5", Caller{SubAgent: "a1"}))
	s.Sweep(time.Now().Add(keepMarks / 2))
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*")); len(left) != 1 {
		t.Errorf("after half an hour there are %q", left)
	}
	s.Sweep(time.Now().Add(2 * keepMarks))
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*")); len(left) != 0 {
		t.Errorf("after two hours there are %q", left)
	}
}
