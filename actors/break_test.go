package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestBrokenLeaseGoesToTheNextInLine: with a higher fence; the holder and all that wait are told
// the reason once, and the holder holds nothing any more.
func TestBrokenLeaseGoesToTheNextInLine(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		ctx := context.Background()
		was := r.claim("ann", "key", 600)
		ben := r.waitFor(ctx, "ben", "key", 60)
		again := r.waitFor(ctx, "ben", "key", 60)
		cleo := r.waitFor(ctx, "cleo", "key", 60)
		broken := time.Now()
		row, err := r.BreakClaim(asOperator(ctx), hub.ClaimBreakInput{ClaimKey: "key", Reason: "it hangs"})
		require.NoError(t, err)
		if row.Row.OwnerAgentID != "ann" || row.Row.ReleasedAt == nil || row.Row.Fence != was.Row.Fence {
			t.Errorf("the broken claim is %+v", row.Row)
		}
		if got := <-ben; got.err != nil || !got.v.Acquired || got.v.Row.Fence <= was.Row.Fence {
			t.Errorf("the next in line got %+v", got)
		}
		<-again
		if late := time.Since(broken); late > 0 {
			t.Errorf("the next in line got it %v later", late)
		}
		parked(t, cleo)
		for _, agent := range []hub.AgentID{"ann", "ben", "cleo"} {
			inbox := r.inbox(agent)
			if len(inbox) != 1 || inbox[0].FromAgent != hub.AgentOperator || inbox[0].Authority != hub.AuthorityOperator || !strings.Contains(inbox[0].Body, "it hangs") {
				t.Errorf("%s was told %+v", agent, inbox)
			}
		}
		if _, err := r.ReleaseClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: "ann", ClaimKey: "key"}); err == nil {
			t.Error("the former holder releases it")
		}
		r.release("ben", "key")
		<-cleo
	})
}

// TestBreakSurvivesCrashAtEveryStep: after a loss of power at any step the lease is held, and
// nobody was told, or it is broken, and its holder was told once.
func TestBreakSurvivesCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			crash := &stepCrash{store: newMemStore(), step: step, nth: 1}
			r := start(t, crash.store, crash.option)
			_, err := r.Lock(t.Context(), hub.LockInput{AgentID: "ann", FilePath: "/a", TTLSec: 600})
			require.NoError(t, err)
			crash.arm()
			_, err = r.BreakLock(asOperator(t.Context()), hub.LockBreakInput{FilePath: "//a", Reason: "it hangs"})
			require.NoError(t, err)
			again := start(t, crash.over())
			got, err := again.Lock(t.Context(), hub.LockInput{AgentID: "ben", FilePath: "/a", TTLSec: 600})
			require.NoError(t, err)
			if told := len(again.inbox("ann")); told > 1 || (told == 1) != got.Acquired {
				t.Errorf("the holder was told %d times, another agent acquires it: %v", told, got.Acquired)
			}
			if got.Acquired && got.Row.Fence < 2 {
				t.Errorf("the fence is %d", got.Row.Fence)
			}
		})
	}
}
