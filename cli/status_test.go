package cli

import (
	"strings"
	"testing"

	"hubcli/hub"
)

// TestStatusListsAgentsAsleep: each is one line, whatever its values hold.
func TestStatusListsAgentsAsleep(t *testing.T) {
	var b strings.Builder
	err := printStatus(&b, hub.AppStatus{Asleep: []hub.AsleepAgent{{AgentID: "dev-a", Unread: 2, Since: 1_000}}}, "the default", "")
	if want := "\nasleep        dev-a, 2 unread directed, since 1970-01-01T00:00:01.000Z\n"; err != nil || !strings.HasSuffix(b.String(), want) {
		t.Errorf("%v, %s", err, b.String())
	}
}
