package view

import "testing"

// TestSlip: what a hurried person types in place of an id is near it, and ids that teams give to
// two agents are not.
func TestSlip(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"laed", "lead", true},
		{"reviewe", "reviewer", true},
		{"reviewerr", "reviewer", true},
		{"Reveiwer", "reviewer", true},
		{"eviewer", "reviewer", true},
		{"dev-a", "dev-b", false},
		{"dev-1", "dev-2", false},
		{"dev-12", "dev-1", false},
		{"dev-12", "dev-21", false},
		{"lead", "lead", false},
		{"ab", "ba", false},
		{"abc", "abcd", false},
		{"lead", "leader", false},
		{"team-a", "team-", true},
		{"lead", "dale", false},
	} {
		if got := slip(c.a, c.b); got != c.want || slip(c.b, c.a) != got {
			t.Errorf("slip(%q, %q) is %v", c.a, c.b, got)
		}
	}
}
