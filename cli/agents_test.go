package cli

import (
	"regexp"
	"strings"
	"testing"

	"hubcli/internal/testcli"
)

// TestAgentsThatAreAsleepAreListed: those with a session and those whose session has ended.
func TestAgentsThatAreAsleepAreListed(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/app/status": {`{"ok":true,"result":{"asleep":[{"agent_id":"dev-a","room_id":null,"unread":2,"since":"2026-01-02T15:04:05.678Z"},` +
			`{"agent_id":"dev-b","room_id":"r_1","unread":3,"since":"2026-01-02T15:04:05.678Z"}]}}`},
		"GET /v1/agents": {`{"ok":true,"result":[{"agent_id":"dev-a","presence":"live","activity":"idle","last_seen":"2026-01-02T15:04:05.678Z"},` +
			`{"agent_id":"lead","presence":"live","activity":"idle","last_seen":"2026-01-02T15:04:05.678Z"}]}`},
		"GET /v1/rooms":    {`{"ok":true,"result":[{"room_id":"r_1","project_id":"p_1","slug":"till"}]}`},
		"GET /v1/projects": {`{"ok":true,"result":[{"project_id":"p_1","slug":"shop"}]}`},
	})
	got := runIn(t, testcli.World(t, map[string]string{"HUB_BASE_URL": s.URL, "HUB_AGENT": "lead"}), "agents")
	for _, want := range []string{`\ndev-a  asleep .* 0 `, `\ndev-b  asleep .* till +3 `, `\nlead   idle `} {
		if got.exit != 0 || !regexp.MustCompile(want).MatchString(got.stdout) {
			t.Errorf("no %s in %+v", want, got)
		}
	}
	room := runIn(t, testcli.World(t, map[string]string{"HUB_BASE_URL": s.URL, "HUB_AGENT": "lead"}), "agents", "--prefix", "x", "--json")
	if strings.Contains(room.stdout, "dev-b") {
		t.Errorf("--prefix selects nothing of those asleep: %+v", room)
	}
}
