package actors

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestCircleIsAnsweredAtOnce: a call that would have agents wait for each other for ever is answered at
// once with the agents in the circle. The others go on waiting, and the circle is gone once one of
// them gives up what it holds.
func TestCircleIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		agents := []hub.AgentID{"ann", "ben", "cleo"}
		key := func(i int) hub.ClaimKey { return hub.ClaimKey(fmt.Sprint("key-", i%len(agents))) }
		for i, agent := range agents {
			r.claim(agent, key(i), 600)
		}
		ann, ben := r.waitFor(t.Context(), "ann", key(1), 60), r.waitFor(t.Context(), "ben", key(2), 60)
		dora := r.waitFor(t.Context(), "dora", key(0), 60) // outside the circle
		for range 2 {
			got, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "cleo", ClaimKey: key(0), TTLSec: 600, WaitSec: 60})
			require.NoError(t, err)
			if want := []hub.AgentID{"cleo", "ann", "ben"}; got.Acquired || got.Row.OwnerAgentID != "ann" || !slices.Equal(got.Circle, want) {
				t.Errorf("the call that closes the circle is answered %+v, want %v", got, want)
			}
		}
		if n := r.Counts().ParkedPolls; n != 3 {
			t.Errorf("%d calls wait", n)
		}
		if got, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "cleo", ClaimKey: key(0), TTLSec: 600}); err != nil || got.Acquired || got.Circle != nil {
			t.Errorf("a call that does not wait: %+v, %v", got, err)
		}
		r.release("cleo", key(2))
		if got := <-ben; got.err != nil || !got.v.Acquired || got.v.Circle != nil {
			t.Errorf("ben, after what it waits for is free: %+v, %v", got.v, got.err)
		}
		cleo := r.waitFor(t.Context(), "cleo", key(0), 60) // ben waits for nobody now
		r.release("ben", key(1))
		r.release("ann", key(0))
		for name, c := range map[string]<-chan result[hub.Grant[hub.Claim]]{"ann": ann, "dora": dora} {
			if got := <-c; got.err != nil || !got.v.Acquired {
				t.Errorf("%s, in its turn: %+v, %v", name, got.v, got.err)
			}
		}
		r.release("dora", key(0))
		if got := <-cleo; got.err != nil || !got.v.Acquired {
			t.Errorf("cleo, in its turn: %+v, %v", got.v, got.err)
		}
	})
}
