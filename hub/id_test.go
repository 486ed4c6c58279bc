package hub

import (
	"errors"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestAgentIDsAreThoseOfThePattern(t *testing.T) {
	pattern := regexp.MustCompile(agentPattern)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9._@:+-]{0,66}`), rapid.String(), rapid.StringMatching(`[a-z/ é-]{0,8}`),
		).Draw(t, "id")
		if got, want := isAgentID(AgentID(id)), pattern.MatchString(id); got != want {
			t.Fatalf("%q is an agent id: %v, want %v", id, got, want)
		}
	})
}

func TestCheckAgentIDSuggestsOne(t *testing.T) {
	for given, want := range map[AgentID]string{"team/dev a": "team-dev-a", "-x": "x", "é": ""} {
		var e *Error
		if err := CheckAgentID("agent_id", given); !errors.As(err, &e) || e.Code != CodeInvalidAgentID {
			t.Fatalf("%q: %v", given, err)
		}
		suggested, _ := e.Detail["suggested"].(string)
		if suggested != want || suggested != "" && !isAgentID(AgentID(suggested)) {
			t.Errorf("%q: suggested %q, want %q", given, suggested, want)
		}
	}
}
