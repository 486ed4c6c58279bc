package hub

import "testing"

// TestCutListsAreNamed: a call names what it reads whatever its values hold, and leaves out
// what has no value.
func TestCutListsAreNamed(t *testing.T) {
	var m More
	m.Add("locks", GetCall("/v1/locks"))
	m.Add("claims", GetCall("/v1/claims", "thread_id", "a&b c", "agent_id", ""))
	if got := m["claims"]; got != "GET /v1/claims?thread_id=a%26b+c" {
		t.Errorf("the call is %s", got)
	}
	if got := m["locks"]; got != "GET /v1/locks" {
		t.Errorf("the call is %s", got)
	}
	if got := m.Lists(); len(got) != 2 || got[0] != "claims" || got[1] != "locks" {
		t.Errorf("the lists are %v", got)
	}
}
