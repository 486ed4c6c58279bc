package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"hubcli/actors/core"
	"hubcli/actors/leases"
	"hubcli/hub"
)

// Stop answers parked calls with what there is, makes durable what is under way,
// refuses everything else, and leaves a checkpoint and no goroutine.
func TestStopAnswersParkedCalls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.say("ann", "", "old")
		r.claim("ann", "k", 600)
		poll := async(func() (hub.Page, error) {
			return r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Since: 1, Limit: 10, Wait: time.Minute})
		})
		many := async(func() (hub.Page, error) {
			return r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Channels: []hub.ChannelName{"general", "direct"}, Since: 1, Limit: 10, Wait: time.Minute})
		})
		wait := r.waitFor(t.Context(), "bob", "k", 60)
		begun := time.Now()
		r.stop()
		if p := <-poll; p.err != nil || len(p.v.Rows) != 0 || p.v.NextSinceID != 1 {
			t.Errorf("poll: %+v", p)
		}
		if p := <-many; p.err != nil || len(p.v.Rows) != 0 {
			t.Errorf("poll of channels: %+v", p)
		}
		if g := <-wait; g.err != nil || g.v.Acquired || g.v.Row.OwnerAgentID != "ann" {
			t.Errorf("waiter: %+v", g)
		}
		if d := time.Since(begun); d > time.Second {
			t.Errorf("took %v", d)
		}
		_, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: "late"})
		wantCode(t, err, hub.CodeStopping)
		if c, err := r.store.Checkpoint(); err != nil || c.Head.Seq != r.store.Head().Seq {
			t.Errorf("checkpoint %+v, %v", c, err)
		}
		if p, err := r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Limit: 10}); err != nil || len(p.Rows) != 1 {
			t.Errorf("a read after the stop: %+v, %v", p, err)
		}
	})
}

// What was acknowledged while the hub stops is there, and nothing is half done.
func TestStopDrains(t *testing.T) {
	store := newMemStore()
	store.delay = randomDelay(3, time.Millisecond)
	r := start(t, store)
	var mu sync.Mutex
	acknowledged := map[hub.MessageID]string{}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				body := fmt.Sprint(w, "/", i)
				m, err := r.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", Body: body})
				if err != nil {
					if codeOf(err) != hub.CodeStopping {
						t.Errorf("post: %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged[m.ID] = body
				mu.Unlock()
			}
		})
	}
	for r.view.Ring.Visible() < 200 {
		time.Sleep(time.Millisecond)
	}
	r.stop()
	wg.Wait()
	r = start(t, store.restarted())
	got := r.public()
	if len(got) != len(acknowledged) {
		t.Errorf("%d messages, %d acknowledged", len(got), len(acknowledged))
	}
	for _, m := range got {
		if acknowledged[m.ID] != m.Body {
			t.Errorf("message %d is %q, want %q", m.ID, m.Body, acknowledged[m.ID])
		}
	}
}

func TestStartAndStopFiftyTimes(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	store := newMemStore()
	for i := range 50 {
		r := start(t, store)
		r.register("ann")
		if m := r.say("ann", "", "x"); int(m.ID) != i+1 {
			t.Fatalf("run %d: message %d", i, m.ID)
		}
		r.claim("ann", "k", 600)
		poll := async(func() (hub.Page, error) {
			return r.Events(context.Background(), hub.EventsQuery{Agent: "bob", Since: hub.MessageID(i + 1), Limit: 10, Wait: time.Minute})
		})
		r.stop()
		within(t, poll)
		r.stop() // again is nothing
	}
	goleak.VerifyNone(t, ignore)
	if s, ok := start(t, store).live("ann"); !ok || s.Incarnation != 50 {
		t.Errorf("session %+v, %v", s, ok)
	}
}

// A failed commit ends the hub: waiting writes get store_failed, parked calls
// are answered, and no later write is acknowledged.
func TestFailStop(t *testing.T) {
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprintf("took effect %v", half), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				r := start(t, store)
				r.say("ann", "", "first")
				poll := async(func() (hub.Page, error) {
					return r.Events(t.Context(), hub.EventsQuery{Agent: "bob", Since: 1, Limit: 10, Wait: time.Minute})
				})
				r.claim("ann", "k", 600)
				waiter := r.waitFor(t.Context(), "bob", "k", 60)
				gate := make(chan struct{})
				store.mu.Lock()
				store.failAt, store.failHalf, store.gate = store.appends+2, half, gate
				store.mu.Unlock()
				var waiting []<-chan result[hub.Message]
				for i := range 6 { // the first fills the good group, the others stand in the one that fails
					waiting = append(waiting, async(func() (hub.Message, error) {
						return r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: fmt.Sprint(i)})
					}))
					synctest.Wait()
				}
				refused := async(func() (hub.Outcome[hub.Claim], error) { // rests on what is not durable
					return r.ReleaseClaim(t.Context(), hub.ClaimHoldInput{AgentID: "ann", ClaimKey: "none"})
				})
				synctest.Wait()
				close(gate)
				<-r.Failed()
				if !errors.Is(r.Cause(), errDisk) {
					t.Errorf("Cause() = %v", r.Cause())
				}
				if first := <-waiting[0]; first.err != nil {
					t.Errorf("the group before the failure: %v", first.err)
				}
				for _, w := range waiting[1:] {
					wantCode(t, (<-w).err, hub.CodeStoreFailed)
				}
				<-refused
				if p := <-poll; p.err != nil {
					t.Errorf("poll: %v", p.err)
				}
				synctest.Wait()
				for range 3 {
					if _, err := r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Body: "late"}); err == nil {
						t.Error("acknowledged after the failure")
					}
				}
				if got := r.public(); got[len(got)-1].Body != "0" {
					t.Errorf("the last visible message is %+v; the failed group must not be shown", got[len(got)-1])
				}
				if s := r.JournalStatus(); s.State != hub.JournalFailed {
					t.Errorf("journal %+v", s)
				}
				if err := r.stopQuietly(); !errors.Is(err, errDisk) {
					t.Errorf("Stop: %v", err)
				}
				if g := <-waiter; g.v.Acquired {
					t.Errorf("waiter: %+v", g)
				}
				if _, err := store.Checkpoint(); !errors.Is(err, core.ErrNotFound) {
					t.Error("a checkpoint of a state that is ahead of the disk was saved")
				}
			})
		})
	}
}

// A call that was admitted just before the stop does not park behind it.
func TestStopLeavesNoLateWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "k", 600)
		key := core.LeaseKey{Space: core.SpaceClaim, Key: "k"}
		a := r.admitLease("bob", key, func(l *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			return l.Acquire(core.AcquireCommand{Space: key.Space, Key: key.Key, Agent: "bob", TTLSec: 60}, now), nil
		})
		stopped := async(func() (struct{}, error) { return struct{}{}, r.stopQuietly() })
		synctest.Wait() // the stop waits for this call
		begun := time.Now()
		a.Permit.Owner.Tell(leases.Turn(a, key, time.Minute))
		if got, err := a.Wait(); err != nil || got.Acquired || got.Claim.OwnerAgentID != "ann" {
			t.Errorf("late waiter: %+v, %v", got, err)
		}
		if s := <-stopped; s.err != nil || time.Since(begun) > time.Second {
			t.Errorf("Stop: %v after %v", s.err, time.Since(begun))
		}
	})
}
