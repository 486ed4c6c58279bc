package actors

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// undelivered returns the rows as short texts.
func (r *rig) undelivered() (texts []string) {
	r.t.Helper()
	rows, next, err := r.Undelivered(asOperator(context.Background()), hub.UndeliveredQuery{Limit: 100})
	require.NoError(r.t, err)
	if next != "" {
		r.t.Errorf("there is more, at %q", next)
	}
	for _, u := range rows {
		texts = append(texts, fmt.Sprintf("%s %s %d from %v, newest %d, near %v", u.ToAgent, u.State, u.Messages, u.From, u.LatestID, u.Near))
	}
	return texts
}

// TestUndelivered: mail to an id that never registered stands in the list at once, with those who
// may be meant, and goes when the id registers, which then reads it. It stays over a restart.
func TestUndelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		r.register("reviewer")
		r.register("ann")
		want := func(when string, rows ...string) {
			t.Helper()
			if got := r.undelivered(); !slices.Equal(got, rows) {
				t.Errorf("%s: %q, want %q", when, got, rows)
			}
		}
		want("at first")
		first := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "reviewr", Body: "x"}).ID
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "reviewer", Body: "x"})
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: hub.AgentOperator, Body: "x"})
		last := r.post(hub.PostInput{FromAgent: "cleo", ToAgent: "reviewr", Body: "y"}).ID
		lost := fmt.Sprintf("reviewr never_registered 2 from [ben cleo], newest %d, near [reviewer]", last)
		want("with mail", lost)
		time.Sleep(30 * 24 * time.Hour)
		left := r.crash()
		r = start(t, left)
		if got := r.undelivered(); !slices.Contains(got, lost) {
			t.Errorf("after a restart: %q", got)
		}
		r.register("reviewr")
		if got := r.undelivered(); slices.Contains(got, lost) {
			t.Errorf("it has registered: %q", got)
		}
		if got := r.inbox("reviewr"); len(got) != 2 || got[0].ID != first {
			t.Errorf("it reads %v", got)
		}
	})
}

// TestUndeliveredToThoseWhoAreGone: mail to an agent that has ended is its room's matter for a day,
// and stands in the list after that, or as soon as the agent is retired. It goes when the agent
// comes back. What it was told of does not count.
func TestUndeliveredToThoseWhoAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		for _, id := range []hub.AgentID{"ann", "bob", "cleo"} {
			r.register(id)
		}
		row := func(id hub.AgentID, m hub.MessageID) string {
			return fmt.Sprintf("%s gone 1 from [ben], newest %d, near []", id, m)
		}
		ann := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"}).ID
		bob := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "bob", Body: "x"}).ID
		cleo := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "x"}).ID
		_, err := r.Tell(t.Context(), hub.ToldInput{AgentID: "cleo", ToldID: cleo})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		if got := r.undelivered(); len(got) > 0 {
			t.Errorf("after an hour: %q", got)
		}
		_, err = r.retire("bob")
		require.NoError(t, err)
		if got := r.undelivered(); !slices.Equal(got, []string{row("bob", bob)}) {
			t.Errorf("one is retired: %q", got)
		}
		time.Sleep(24 * time.Hour)
		if got := r.undelivered(); !slices.Equal(got, []string{row("ann", ann), row("bob", bob)}) {
			t.Errorf("after a day: %q", got)
		}
		r.register("ann")
		r.register("bob")
		if got := r.undelivered(); len(got) > 0 {
			t.Errorf("they are back: %q", got)
		}
	})
}
