package mcp

import (
	"testing"

	"hubcli/hub"
)

// TestAround: an agent that would close a circle is told which agent waits for which.
func TestAround(t *testing.T) {
	for want, circle := range map[string][]hub.AgentID{
		"you wait for ann, ann waits for you":                    {"me", "ann"},
		"you wait for ann, ann waits for ben, ben waits for you": {"me", "ann", "ben"},
	} {
		if got := around(circle); got != want {
			t.Errorf("%v is told as %q, want %q", circle, got, want)
		}
	}
}
