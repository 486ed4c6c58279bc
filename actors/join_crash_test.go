package actors

import (
	"fmt"
	"sync"
	"testing"

	"hubcli/actors/engine"
	"hubcli/hub"
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

func crashJoin(t *testing.T, step engine.Step, nth int) {
	var mu sync.Mutex
	var left *memStore
	armed, seen := false, 0
	store := newMemStore()
	r := start(t, store, func(o *Options) {
		o.Step = func(s engine.Step) {
			mu.Lock()
			defer mu.Unlock()
			if armed && s == step {
				if seen++; seen == nth && left == nil {
					left = store.restarted()
				}
			}
		}
	})
	room, invite := r.hall(1, 60, "guest")
	mu.Lock()
	armed = true
	mu.Unlock()
	ctx := withKey(t.Context(), "k", "b")
	first, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if left == nil { // there are fewer such steps: a crash after all of it
		left = store.restarted()
	}
	after := left
	mu.Unlock()
	again := start(t, after)
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
