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

// TestCircleByGrant: a circle that a grant closes is answered at once, too. The agent that gets the
// lease waits with another call for one that is behind it in the queue.
func TestCircleByGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "parser", 600)
		r.claim("dora", "lexer", 600)
		cleo := r.waitFor(t.Context(), "cleo", "parser", 60)
		dora := r.waitFor(t.Context(), "dora", "parser", 60)
		eve := r.waitFor(t.Context(), "eve", "parser", 60) // behind the circle, not in it
		other := r.waitFor(t.Context(), "cleo", "lexer", 60)
		before := time.Now()
		r.release("ann", "parser")
		if got := <-cleo; got.err != nil || !got.v.Acquired || got.v.Circle != nil {
			t.Errorf("cleo, in its turn: %+v, %v", got.v, got.err)
		}
		got := <-dora
		if want := []hub.AgentID{"dora", "cleo"}; got.err != nil || got.v.Acquired || !slices.Equal(got.v.Circle, want) || time.Since(before) > 0 {
			t.Errorf("dora is answered %+v, %v after %v, want %v at once", got.v, got.err, time.Since(before), want)
		}
		r.release("dora", "lexer")
		if got := <-other; got.err != nil || !got.v.Acquired {
			t.Errorf("cleo's other call: %+v, %v", got.v, got.err)
		}
		r.release("cleo", "parser")
		if got := <-eve; got.err != nil || !got.v.Acquired || got.v.Circle != nil {
			t.Errorf("eve, in its turn: %+v, %v", got.v, got.err)
		}
	})
}

// TestCircleOfCalls: a call that waits for the answer to a message counts as a wait for the agent that
// has to give it, in circles with other calls and with leases. The others go on waiting, and what
// each waits for is shown.
func TestCircleOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		for _, agent := range []hub.AgentID{"ann", "ben", "cleo"} {
			r.register(agent)
		}
		ask := func(from, to hub.AgentID) hub.MessageID {
			return r.post(hub.PostInput{FromAgent: from, ToAgent: to, Kind: hub.KindTaskRequest, Body: "well?"}).ID
		}
		await := func(agent hub.AgentID, id hub.MessageID) <-chan result[hub.Page] {
			since := r.view.Ring.Visible()
			c := async(func() (hub.Page, error) {
				return r.Events(context.Background(), hub.EventsQuery{Agent: agent, Channels: []hub.ChannelName{hub.DirectChannel}, Since: since, Limit: 10, Wait: time.Minute, Peek: true, Awaits: id})
			})
			synctest.Wait()
			return c
		}
		first := ask("ann", "ben")
		ann := await("ann", first)
		if _, conditions, waits := r.watching("ann"); !waits || !slices.Equal(conditions, []string{fmt.Sprintf("answered:%d", first)}) {
			t.Errorf("ann waits for %v, %v", conditions, waits)
		}
		second := ask("ben", "cleo")
		ben := await("ben", second)
		third := ask("cleo", "ann")
		if got := <-ann; got.err != nil || len(got.v.Rows) != 1 {
			t.Errorf("ann reads the request: %+v, %v", got.v, got.err)
		}
		ann = await("ann", first) // it goes on waiting
		before := time.Now()
		got := <-await("cleo", third)
		if want := []hub.AgentID{"cleo", "ann", "ben"}; got.err != nil || !slices.Equal(got.v.Circle, want) || time.Since(before) > 0 {
			t.Errorf("the call that closes the circle is answered %+v, %v after %v, want %v", got.v, got.err, time.Since(before), want)
		}
		r.claim("ann", "parser", 600)
		claim, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "cleo", ClaimKey: "parser", TTLSec: 600, WaitSec: 60})
		if want := []hub.AgentID{"cleo", "ann", "ben"}; err != nil || !slices.Equal(claim.Circle, want) {
			t.Errorf("a claim in the same circle is answered %+v, %v, want %v", claim, err, want)
		}
		if _, err := r.CompleteTask(t.Context(), second, hub.CompleteInput{AgentID: "cleo", Note: "yes"}); err != nil {
			t.Error(err)
		}
		if got := <-ben; got.err != nil || len(got.v.Rows) == 0 || got.v.Circle != nil {
			t.Errorf("ben has the answer %+v, %v", got.v, got.err)
		}
		cleo := await("cleo", third) // ben waits for nobody now
		_, err = r.Events(t.Context(), hub.EventsQuery{Agent: "ben", Limit: 10, Awaits: first})
		wantCode(t, err, hub.CodeMessageNotFound)
		for name, c := range map[string]<-chan result[hub.Page]{"ann": ann, "cleo": cleo} {
			if got := <-c; got.err != nil || got.v.Circle != nil {
				t.Errorf("%s: %+v, %v", name, got.v, got.err)
			}
		}
		if _, conditions, waits := r.watching("ann"); waits {
			t.Errorf("after its call ann waits for %v", conditions)
		}
	})
}
