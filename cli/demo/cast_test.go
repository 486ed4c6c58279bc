package demo

import (
	"slices"
	"testing"
)

// A plan can be worked off in its order: every task waits for earlier ones only, and the
// agent that takes it is a member.
func TestPlansCanBeDone(t *testing.T) {
	for _, p := range plans() {
		var done []string
		for _, j := range p.jobs {
			for _, name := range j.After {
				if !slices.Contains(done, name) {
					t.Errorf("%s: %q waits for %q, which does not come before", p.title, j.Title, name)
				}
			}
			if !slices.ContainsFunc(cast(), func(m member) bool { return m.id == j.who }) {
				t.Errorf("%s: %q is taken by %q, who is not in the team", p.title, j.Title, j.who)
			}
			done = append(done, j.Name)
		}
	}
}
