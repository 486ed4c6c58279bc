package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
)

// TestCircleEndsAWaitAtOnce: a command that would close a circle of waits ends at once, with the agents
// in it and a way out.
func TestCircleEndsAWaitAtOnce(t *testing.T) {
	asked := 0
	verb := leaseVerb{list: "hubcli claims", take: func(context.Context, *client.Client, leaseInput) (leaseGrant, error) {
		asked++
		return leaseGrant{holder: "ann", circle: []hub.AgentID{"ben", "ann"}}, nil
	}}
	o := leaseOptions{wait: time.Minute}
	err := o.take(t.Context(), &term.Env{Now: time.Now}, nil, verb, leaseInput{key: "k"})
	if asked != 1 || term.ExitOf(err) != term.ExitRefused || !strings.Contains(err.Error(), "ben waits for ann, ann waits for ben") {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
