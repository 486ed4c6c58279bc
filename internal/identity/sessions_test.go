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

func TestDamagedBindingsCountAsNone(t *testing.T) {
	s := Sessions{Dir: filepath.Join(t.TempDir(), "hooks")}
	b := Binding{AgentID: "dev-a", BaseURL: "http://127.0.0.1:1", RoomID: "r_1", InstanceID: "i"}
	if got, err := s.Claim("x", b); err != nil || got != b {
		t.Fatalf("claimed %+v, %v", got, err)
	}
	if got, err := s.Claim("x", Binding{AgentID: "dev-b"}); err != nil || got != b {
		t.Errorf("claimed again %+v, %v", got, err)
	}
	for _, text := range []string{"", "{", "null", `{"agent_id":"a/b"}`, `{"agent_id":"system"}`, strings.Repeat(" ", maxFileBytes) + `{"agent_id":"a"}`} {
		require.NoError(t, os.WriteFile(s.path("x"), []byte(text), 0o600))
		if got, ok := s.Load("x"); ok {
			t.Errorf("%.20q loads as %+v", text, got)
		}
	}
	if got, err := s.Claim("x", b); err != nil || got != b {
		t.Errorf("claimed over damage %+v, %v", got, err)
	}
	if got, ok := s.Load("x"); !ok || got != b {
		t.Errorf("loaded %+v, %v", got, ok)
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, ".new-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind %q, %v", left, err)
	}
}

func TestSweep(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"a.json": keepSessions - time.Hour, "b.json": keepSessions + time.Hour, "a-advised": keepSessions + time.Hour,
		"a-began-startup-1": keepMarks + time.Hour, "a-began-startup-2": time.Minute, ".new-1": keepMarks + time.Minute, ".new-2": time.Minute,
	} {
		path := filepath.Join(s.Dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	s.Sweep(now)
	entries, err := os.ReadDir(s.Dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != ".new-2 a-began-startup-2 a.json" {
		t.Errorf("kept %s, %v", got, err)
	}
}

// TestReadWhileReplaced: a binding that other processes write anew is always there.
func TestReadWhileReplaced(t *testing.T) {
	s := SessionsOf(t.TempDir())
	require.NoError(t, s.Replace("s1", Binding{AgentID: "ann"}))
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 300 && err == nil; i++ {
			err = s.Replace("s1", Binding{AgentID: "ann", RoomID: "r_1"})
		}
		done <- err
	}()
	for {
		if b, ok := s.Load("s1"); !ok || b.AgentID != "ann" {
			t.Fatalf("it reads %+v, %v", b, ok)
		}
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

// TestSubAgentsWorkUnderASession: a session of a sub-agent leads to the one of its main agent, and
// every other session to itself.
func TestSubAgentsWorkUnderASession(t *testing.T) {
	s := SessionsOf(t.TempDir())
	if got := s.Root("main"); got != "main" {
		t.Errorf("a session of which nothing is noted leads to %q", got)
	}
	require.NoError(t, s.Under("sub", "main"))
	require.NoError(t, s.Under("within", s.Root("sub")))
	for _, session := range []string{"main", "sub", "within"} {
		if got := s.Root(session); got != "main" {
			t.Errorf("%s leads to %q", session, got)
		}
	}
	require.NoError(t, os.WriteFile(s.rootPath("sub"), []byte("rubbish"), 0o600))
	if got := s.Root("sub"); got != "sub" {
		t.Errorf("a damaged note leads to %q", got)
	}
	for _, session := range []string{"", "main"} {
		if err := s.Under(session, "main"); !errors.Is(err, errNotKept) {
			t.Errorf("under itself or nothing: %v", err)
		}
	}
}
