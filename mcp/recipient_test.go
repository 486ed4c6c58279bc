package mcp

import (
	"strings"
	"testing"

	"hubcli/internal/testhub"
)

// TestUnheardIsSaid: an agent that writes to itself, to system, or to an agent
// that is unknown or not live learns this at once.
func TestUnheardIsSaid(t *testing.T) {
	h, dir := testhub.Start(t), t.TempDir()
	me := bridgeTo(t, h, in(dir, "me"))
	bound(t, me, dir)
	you := bridgeTo(t, h, in(dir, "you"))
	you.must("hub_whoami", nil, nil)
	for to, want := range map[string]string{"me": "That is you", "system": "reads no messages", "nobody-x": "There has never been an agent"} {
		if said := text(me.try("hub_dm", args{"to_agent": to, "body": "hello"})); !strings.Contains(said, want) {
			t.Errorf("to %s: %q, want %q", to, said, want)
		}
	}
	if said := text(me.try("hub_dm", args{"to_agent": "you", "body": "hello"})); strings.Contains(said, "obody") || strings.Contains(said, "not live") {
		t.Errorf("to a live agent: %q", said)
	}
	for _, to := range []string{"me", "system"} {
		if said := me.refused("hub_rpc_call", args{"to_agent": to, "body": "work", "timeout_seconds": 0}); !strings.Contains(said, "answers no request") {
			t.Errorf("a request to %s: %q", to, said)
		}
	}
	if said := text(me.try("hub_rpc_call", args{"to_agent": "nobody-y", "body": "work", "timeout_seconds": 0})); !strings.Contains(said, "There has never been an agent") {
		t.Errorf("a request to nobody: %q", said)
	}
	you.end()
	if said := text(me.try("hub_dm", args{"to_agent": "you", "body": "hello"})); !strings.Contains(said, "not live") {
		t.Errorf("to one that has gone: %q", said)
	}
}
