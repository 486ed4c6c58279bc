package session

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// TestAHeldPortIsToldSoon: a port that drops connections is waited for once, and the next call is
// told at once. A hub that comes is found, and so is a port that is free again.
func TestAHeldPortIsToldSoon(t *testing.T) {
	var back atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if back.Load() {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"ok":true,"result":{"instance_id":"abc","features":[],"message_kinds":[]}}`))
			return
		}
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	held := errors.New("the port is held")
	starts := 0
	l := New(Config{
		BaseURL: s.URL, DataRoot: t.TempDir(), Getenv: func(string) string { return "" },
		Restart: func(context.Context) error { starts++; return held },
	}, slog.New(slog.DiscardHandler))
	l.grace = 300 * time.Millisecond
	for i := range 3 {
		began := time.Now()
		_, err := l.reach(t.Context(), true)
		if took := time.Since(began); !errors.Is(err, held) || starts != 1 || i == 0 && took < l.grace || i > 0 && took > time.Second {
			t.Errorf("call %d: %v after %v, with %d starts", i, err, took, starts)
		}
	}
	l.failedAt = time.Now().Add(-heldGrace)
	if _, err := l.reach(t.Context(), true); !errors.Is(err, held) || starts != 2 {
		t.Errorf("after a while: %v, with %d starts", err, starts)
	}
	back.Store(true)
	if info, err := l.reach(t.Context(), true); err != nil || info.InstanceID != "abc" {
		t.Errorf("the hub is back: %+v, %v", info, err)
	}
	s.Close()
	if _, err := l.reach(t.Context(), true); !errors.Is(err, held) || starts != 3 {
		t.Errorf("the port is free: %v, with %d starts", err, starts)
	}
}
