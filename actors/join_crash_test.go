package actors

import (
	"fmt"
	"sync"
	"testing"

	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestJoinCrashAtEveryStep: wherever the hub dies on the way of a join, the same call
// with the same key finishes it. The agent has one seat and one session then, and the
// invite is used once.
func TestJoinCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 3; nth++ { // two commands, and none
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) { crashJoin(t, step, nth) })
		}
	}
}

// stepCrash keeps the store as it is when the hub comes to a step for the nth time
// after arm.
type stepCrash struct {
	store *memStore
	step  engine.Step
	nth   int

	mu    sync.Mutex
	armed bool
	seen  int
	left  *memStore
}

func (c *stepCrash) option(o *Options) {
	o.Step = func(s engine.Step) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.armed && s == c.step {
			if c.seen++; c.seen == c.nth {
				c.left = c.store.restarted()
			}
		}
	}
}

func (c *stepCrash) arm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = true
}

// over returns the store of the crash. If there are fewer such steps, the crash
// comes after all of them.
func (c *stepCrash) over() *memStore {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil {
		c.left = c.store.restarted()
	}
	return c.left
}

func crashJoin(t *testing.T, step engine.Step, nth int) {
	crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
	r := start(t, crash.store, crash.option)
	room, invite := r.hall(1, 60, "guest")
	crash.arm()
	ctx := withKey(t.Context(), "k", "b")
	first, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{})
	require.NoError(t, err)
	again := start(t, crash.over())
	var session hub.SessionID
	for range 2 {
		out, err := again.AcceptInvite(ctx, invite.Code, hub.AcceptInput{})
		if err != nil || out.Row.Seat.AgentID != first.Row.Seat.AgentID || out.Row.ResumeKey == "" {
			t.Fatalf("the repeated call: %+v, %v", out, err)
		}
		if session == "" {
			session = out.Row.Session.SessionID
		}
		if out.Row.Session.SessionID != session {
			t.Errorf("a second session, %s after %s", out.Row.Session.SessionID, session)
		}
	}
	if _, err := again.Authenticate(t.Context(), session); err != nil {
		t.Errorf("the session is not good: %v", err)
	}
	if seats, err := again.view.SeatsOf(room.RoomID); err != nil || len(seats) != 1 {
		t.Errorf("seats: %+v, %v", seats, err)
	}
	if rows, _, err := again.Invites(t.Context(), hub.InvitesQuery{Limit: 9}); err != nil || len(rows) != 1 || rows[0].Uses != 1 {
		t.Errorf("the invite is %+v, %v", rows, err)
	}
}
