package hub

import (
	"strings"
	"testing"
)

// TestSubAgentIDs: the id of a sub-agent names its main agent, is a legal id of an agent that
// may act, whatever its program calls it, and is another one for each name and each main agent.
func TestSubAgentIDs(t *testing.T) {
	long := AgentID(strings.Repeat("x", MaxAgentIDBytes))
	seen := map[AgentID]string{}
	for _, id := range []AgentID{"lead", "claude-code-1a2b3c4d", long, long[:MaxAgentIDBytes-1], long[:50]} {
		for _, name := range []string{
			"a1b2c3", "a4d2c8f1e0b3a297", "Explore_1", "", "ab.watch", "team@p_1", "x/y", "ä", "a b", "\x00", ":",
			"0199c1f0-7a3e-7000-8000-0123456789ab", strings.Repeat("n", 500), strings.Repeat("n", 21),
		} {
			sub := id.SubAgent(name)
			if err := CheckRecipient("agent_id", sub); err != nil || CheckSender("agent_id", sub) != nil {
				t.Errorf("%s, %q: %s is no id: %v", id, name, sub, err)
			}
			if sub != id.SubAgent(name) {
				t.Errorf("%s, %q: the id changes", id, name)
			}
			if other, ok := seen[sub]; ok {
				t.Errorf("%s is the id for %q and for %s %q", sub, other, id, name)
			}
			seen[sub] = string(id) + " " + name
		}
	}
	if main, ok := AgentID("lead:a1").MainAgent(); main != "lead" || !ok {
		t.Errorf("lead:a1 is a sub-agent of %q, %v", main, ok)
	}
	if main, ok := AgentID("lead").MainAgent(); ok {
		t.Errorf("lead is a sub-agent of %q", main)
	}
	for name, want := range map[string]AgentID{"a1b2c3": "lead:a1b2c3", "Explore_1": "lead:Explore_1"} {
		if got := AgentID("lead").SubAgent(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}
