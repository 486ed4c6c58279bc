package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
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
	got := runIn(t, world(t, nil), "claim", "k", "--agent", "a", "--wait", "60", "--base-url", s.URL)
	if got != (ran{0, "a holds k for 5m, fence 4\n", ""}) {
		t.Errorf("got %+v", got)
	}
	calls.Store(0)
	if got = runIn(t, world(t, nil), "claim", "k", "--agent", "a", "--base-url", s.URL); got.exit != ExitUnreachable {
		t.Errorf("without a wait: %+v", got)
	}
}

// TestCircleEndsAWaitAtOnce: a command that would close a circle of waits ends at once, with the agents
// in it and a way out.
func TestCircleEndsAWaitAtOnce(t *testing.T) {
	asked := 0
	verb := leaseVerb{list: "hubcli claims", take: func(context.Context, *client.Client, leaseInput) (leaseGrant, error) {
		asked++
		return leaseGrant{holder: "ann", circle: []hub.AgentID{"ben", "ann"}}, nil
	}}
	o := leaseOptions{wait: time.Minute}
	err := o.take(t.Context(), &Env{Now: time.Now}, nil, verb, leaseInput{key: "k"})
	if asked != 1 || exitOf(err) != ExitRefused || !strings.Contains(err.Error(), "ben waits for ann, ann waits for ben") {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
