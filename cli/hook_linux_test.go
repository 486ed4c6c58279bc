package cli

import (
	"strings"
	"testing"
	"time"
)

// TestHookOfAHostThatSwallowsPackets: connecting alone gets a part of the budget,
// because a hub of this machine takes a connection at once.
func TestHookOfAHostThatSwallowsPackets(t *testing.T) {
	vars := map[string]string{"HUB_AGENT": "dev-a", "HUB_BASE_URL": "http://" + swallow(t)}
	got, took := hooked(t, vars, strings.NewReader(stopPayload), "stop")
	if got != (ran{0, "{}", ""}) || took >= hookCalls {
		t.Errorf("%+v after %s, want %s", got, took, hookConnect)
	}
	if took < 200*time.Millisecond {
		t.Errorf("answered after %s: the host swallowed nothing", took)
	}
}
