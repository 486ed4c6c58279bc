package cli

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// TestAWaitForAClaimSurvivesAHubThatIsKilled: connections end without an answer for a
// while, longer than the client repeats a call by itself.
func TestAWaitForAClaimSurvivesAHubThatIsKilled(t *testing.T) {
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) < 8 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"ok":true,"result":{"claim_key":"k","owner_agent_id":"a","fence":4},"acquired":true}`))
	}))
	t.Cleanup(s.Close)
	got := runIn(t, testcli.World(t, nil), "claim", "k", "--agent", "a", "--wait", "60", "--base-url", s.URL)
	if got != (ran{0, "a holds k for 5m, fence 4\n", ""}) {
		t.Errorf("got %+v", got)
	}
	calls.Store(0)
	if got = runIn(t, testcli.World(t, nil), "claim", "k", "--agent", "a", "--base-url", s.URL); got.exit != term.ExitUnreachable {
		t.Errorf("without a wait: %+v", got)
	}
}
