package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// bubble runs a test of time with a hub of its own, stopped at its end.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		test(t, r)
		r.stop()
	})
}

// waitFor parks a claim and returns when it stands in the queue.
func (r *rig) waitFor(ctx context.Context, agent hub.AgentID, key hub.ClaimKey, sec float64) <-chan result[hub.Grant[hub.Claim]] {
	c := async(func() (hub.Grant[hub.Claim], error) {
		return r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TTLSec: 600, WaitSec: sec})
	})
	synctest.Wait()
	return c
}

// admitLease admits a command about a lease and does not send it to its owner.
func (r *rig) admitLease(agent hub.AgentID, k core.LeaseKey, decide func(*core.Leases, core.Now) (core.Decision[core.LeaseAnswer], error)) *engine.Pending[*core.Leases, core.LeaseAnswer, core.LeaseAnswer] {
	r.t.Helper()
	a, _, err := engine.Admit(r.t.Context(), r.engine, engine.Command[*core.Leases, core.LeaseAnswer, core.LeaseAnswer]{
		Owner: core.LeaseOwner(core.LeaseShard(k)), Agent: agent, Decide: decide,
		Answer: func(a core.LeaseAnswer, _ *core.Record) core.LeaseAnswer { return a },
	})
	require.NoError(r.t, err)
	return a
}

func parked[T any](t testing.TB, c <-chan result[T]) {
	t.Helper()
	select {
	case got := <-c:
		t.Fatalf("answered %+v, want it parked", got)
	default:
	}
}

// expiries returns the positions of the expiry facts of a key in the journal.
func expiries(s *memStore, key string) (at []core.Position) {
	_ = s.Records(0, func(r *core.Record) error {
		for _, e := range r.Facts {
			if f, err := core.DecodeFact(e); err == nil {
				if x, ok := f.(*core.LeaseExpired); ok && x.Key == key {
					at = append(at, r.Position())
				}
			}
		}
		return nil
	})
	return at
}

// A lease is held in [grant, grant+ttl): to the last millisecond, and no
// millisecond longer; its end is journaled once.
func TestLeaseTTLIsExact(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		begun := r.engine.Clock.Now().HubMS
		r.claim("ann", "k", 10)
		time.Sleep(10*time.Second - time.Millisecond)
		synctest.Wait()
		if g := r.claim("bob", "k", 10); g.Acquired || g.Row.OwnerAgentID != "ann" {
			t.Errorf("1 ms before the end: %+v", g)
		}
		if len(expiries(r.store, "k")) != 0 || r.holder("k") != "ann" {
			t.Error("expired early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if at := expiries(r.store, "k"); len(at) != 1 || at[0].Now.HubMS != begun+10_000 {
			t.Errorf("expired at %+v, want once at %d", at, begun+10_000)
		}
		if h := r.holder("k"); h != "" {
			t.Errorf("held by %s at the end", h)
		}
		if g := r.claim("bob", "k", 10); !g.Acquired || g.Row.Fence != 2 {
			t.Errorf("after the end: %+v", g)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(expiries(r.store, "k")); n != 2 {
			t.Errorf("%d expiries of two leases", n)
		}
	})
}

// The command that meets a lease at its end decides the expiry itself, in its
// own record, before the timer does.
func TestExpiryStandsInTheRecordOfTheCommandThatMetIt(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 10)
		o := r.ownerOf(core.LeaseOwner(core.LeaseShard(core.LeaseKey{Space: core.SpaceClaim, Key: "k"})))
		go o.Tell(engine.Call{Do: func(*engine.Owner) { time.Sleep(15 * time.Second) }}) // the owner is busy past the end
		synctest.Wait()
		bob := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 10})
		})
		synctest.Wait() // the command stands before the turn of the timer
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if g := within(t, bob); g.err != nil || !g.v.Acquired {
			t.Errorf("bob: %+v", g)
		}
		var facts []core.FactType
		_ = r.store.Records(1, func(rec *core.Record) error {
			for _, f := range rec.Facts {
				facts = append(facts, f.Type)
			}
			return nil
		})
		if head := r.store.Head(); head.Seq != 2 || !slices.Equal(facts, []core.FactType{303, 300}) {
			t.Errorf("records up to %d with facts %v, want one record: expired, granted", head.Seq, facts)
		}
	})
}

func TestRefreshMovesTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		g := r.claim("ann", "k", 10)
		time.Sleep(9 * time.Second)
		hold := hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "ann", TTLSec: 10, Fence: g.Row.Fence}
		if g, err := r.RefreshClaim(t.Context(), hold); err != nil || !g.Acquired || g.Row.Fence != 1 {
			t.Errorf("refresh: %+v, %v", g, err)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if r.holder("k") != "ann" {
			t.Error("lost although refreshed")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if r.holder("k") != "" || len(expiries(r.store, "k")) != 1 {
			t.Error("not over")
		}
		_, err := r.RefreshClaim(t.Context(), hold)
		wantCode(t, err, hub.CodeNotHolder)
		r.claim("ann", "k", 10)
		_, err = r.RefreshClaim(t.Context(), hold)
		wantCode(t, err, hub.CodeStaleFence)
	})
}

// At a start a lease with less than 5 s left is lengthened to just that, once
// between two renewals; time in which no hub runs does not count.
func TestRestartGraceAndDowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		r.claim("ann", "short", 10)
		r.claim("ann", "long", 100)
		time.Sleep(8 * time.Second)
		r.stop()
		time.Sleep(time.Hour) // down
		r = start(t, store)
		synctest.Wait()
		time.Sleep(4999 * time.Millisecond)
		synctest.Wait()
		if r.holder("short") != "ann" || r.holder("long") != "ann" {
			t.Error("over before the grace was")
		}
		for range 3 { // a hub that crashes again and again leaves its holders time, each time
			r.stop()
			r = start(t, store)
			time.Sleep(4999 * time.Millisecond)
			synctest.Wait()
			if r.holder("short") != "ann" {
				t.Error("over before the grace of a further start was")
			}
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if r.holder("short") != "" {
			t.Error("held beyond the grace")
		}
		if g := r.claim("ann", "long", 100); g.Row.Fence != 2 {
			t.Errorf("long: %+v", g)
		}
		r.claim("bob", "again", 10)
		time.Sleep(7 * time.Second)
		if _, err := r.RefreshClaim(t.Context(), hub.ClaimHoldInput{ClaimKey: "again", OwnerAgentID: "bob", TTLSec: 3}); err != nil {
			t.Errorf("refresh: %v", err)
		}
		r.stop()
		r = start(t, store)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if r.holder("again") != "bob" {
			t.Error("no grace after a renewal")
		}
		r.stop()
	})
}

// Waiting claims are served in the order of arrival, at the moment of the
// release.
func TestWaitersAreServedInTheirOrder(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 600)
		agents := names[hub.AgentID]("agent", 5)
		var waits []<-chan result[hub.Grant[hub.Claim]]
		for _, a := range agents {
			waits = append(waits, r.waitFor(t.Context(), a, "k", 60))
			time.Sleep(time.Second)
		}
		holder := hub.AgentID("ann")
		for i, w := range waits {
			for _, later := range waits[i:] {
				parked(t, later)
			}
			r.release(holder, "k")
			synctest.Wait()
			g := <-w
			if g.err != nil || !g.v.Acquired || g.v.Row.OwnerAgentID != agents[i] || g.v.Row.Fence != hub.Fence(i+2) {
				t.Fatalf("%s: %+v", agents[i], g)
			}
			if i+1 < len(waits) {
				if got := r.claim("barger", "k", 60); got.Acquired {
					t.Fatal("a newcomer got the lease before those who wait")
				}
			}
			holder = agents[i]
		}
		if n := r.Counts().ParkedPolls; n != 0 {
			t.Errorf("%d parked", n)
		}
	})
}

// An agent that gets a lease does not wait for it any longer: its other calls are answered
// at once, although another agent stands between them.
func TestHolderDoesNotWait(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 10)
		first := r.waitFor(t.Context(), "bob", "k", 60)
		between := r.waitFor(t.Context(), "cy", "k", 60)
		second := r.waitFor(t.Context(), "bob", "k", 60)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, c := range []<-chan result[hub.Grant[hub.Claim]]{first, second} {
			select {
			case got := <-c:
				if got.err != nil || !got.v.Acquired || got.v.Row.OwnerAgentID != "bob" {
					t.Errorf("bob got %+v", got)
				}
			default:
				t.Error("bob has the lease and waits for it")
			}
		}
		parked(t, between)
		r.release("bob", "k")
		if got := within(t, between); got.err != nil || !got.v.Acquired {
			t.Errorf("cy got %+v", got)
		}
	})
}

// An expiry serves those who wait as a release does, and a wait that runs out
// answers with the holder's row.
func TestWaitEndsWithExpiryOrInTime(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 20)
		short, long := r.waitFor(t.Context(), "bob", "k", 5), r.waitFor(t.Context(), "eve", "k", 60)
		begun := time.Now()
		g := <-short
		if d := time.Since(begun); g.err != nil || g.v.Acquired || g.v.Row.OwnerAgentID != "ann" || d != 5*time.Second {
			t.Errorf("after %v: %+v", d, g)
		}
		g = <-long
		if d := time.Since(begun); g.err != nil || !g.v.Acquired || d != 20*time.Second {
			t.Errorf("after %v: %+v", d, g)
		}
	})
}

// A waiter whose caller has gone is not granted anything; the next one is.
func TestGoneWaiterIsSkipped(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 600)
		ctx, leave := context.WithCancel(t.Context())
		bob := r.waitFor(withKey(ctx, "key", "b"), "bob", "k", 60)
		eve := r.waitFor(t.Context(), "eve", "k", 60)
		leave()
		wantCode(t, (<-bob).err, hub.CodeTimedOut)
		synctest.Wait()
		if n := r.Counts().ParkedPolls; n != 1 {
			t.Errorf("%d parked calls, want eve's alone", n)
		}
		if _, err := r.Claim(withKey(t.Context(), "key", "b"), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 600}); err != nil {
			t.Errorf("the key of the call that has gone: %v", err)
		}
		r.release("ann", "k")
		if g := <-eve; g.err != nil || !g.v.Acquired {
			t.Errorf("eve: %+v", g)
		}
		for _, e := range journaled[*core.LeaseGranted](r.store) {
			if e.Agent == "bob" {
				t.Error("a lease was granted to who has gone")
			}
		}
	})
}

// journaled returns the facts of a type in the journal.
func journaled[F core.Fact](s *memStore) (out []F) {
	_ = s.Records(0, func(r *core.Record) error {
		for _, e := range r.Facts {
			if f, err := core.DecodeFact(e); err == nil {
				if x, ok := f.(F); ok {
					out = append(out, x)
				}
			}
		}
		return nil
	})
	return out
}

// At most so many calls of an agent wait at a time, and waiting is presence.
func TestWaitersCountAsParkedCalls(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("bob")
		r.claim("ann", "k", 3600)
		for range hub.MaxParkedPerAgent {
			r.waitFor(t.Context(), "bob", "k", 60)
		}
		_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 60, WaitSec: 1})
		wantCode(t, err, hub.CodeTooManyPolls)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n := r.Counts().ParkedPolls; n != 0 {
			t.Errorf("%d parked after the waits", n)
		}
		r.idle()
	})
}

// A lease that expires while its owner is away leaves one notice in the channel
// of its thread; while its owner is there, none.
func TestExpiryNotice(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.channel("work")
		task := r.post(hub.PostInput{FromAgent: "ann", Channel: "work", ThreadID: "th", Body: "x", Kind: hub.KindTask})
		r.register("near")
		claim := func(agent hub.AgentID, key hub.ClaimKey, thread hub.ThreadID, task hub.MessageID) {
			if _, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, ThreadID: thread, TaskMessageID: task, TTLSec: 10}); err != nil {
				t.Fatal(err)
			}
		}
		claim("away", "a", "th", task.ID)
		claim("near", "b", "", 0)
		if _, err := r.Lock(t.Context(), hub.LockInput{FilePath: "/x/./y", AgentID: "away", TTLSec: 10}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		var got []string
		for _, m := range r.public() {
			if m.FromAgent != hub.AgentSystem {
				continue
			}
			var meta struct {
				Recovery struct {
					AgentID       hub.AgentID `json:"agent_id"`
					ClaimKey      string      `json:"claim_key"`
					FilePath      string      `json:"file_path"`
					TaskMessageID *int64      `json:"task_message_id"`
				} `json:"recovery"`
			}
			require.NoError(t, json.Unmarshal(m.Metadata, &meta))
			v := meta.Recovery
			got = append(got, fmt.Sprint(m.Kind, " ", m.Channel, " ", v.AgentID, " ", v.ClaimKey, v.FilePath, " ", v.TaskMessageID != nil && *v.TaskMessageID == int64(task.ID)))
		}
		slices.Sort(got)
		want := []string{"notice general away /x/./y false", "notice work away a true"}
		if !slices.Equal(got, want) {
			t.Errorf("notices %q, want %q", got, want)
		}
	})
}

// A full disk freezes expiry, because the end of a lease must be journaled; it
// goes on when there is room. A claim whose wait is over is answered all the
// same.
func TestFullDiskFreezesExpiry(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 10)
		bob := r.waitFor(t.Context(), "bob", "k", 30)
		r.store.setFull(true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if r.holder("k") != "ann" || len(expiries(r.store, "k")) != 0 {
			t.Error("expired on a full disk")
		}
		_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "eve", ClaimKey: "k2", TTLSec: 10})
		wantCode(t, err, hub.CodeStorageFull)
		if s := r.JournalStatus(); s.State != hub.JournalFull {
			t.Errorf("journal status %+v", s)
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		select {
		case g := <-bob:
			wantCode(t, g.err, hub.CodeStorageFull)
		default:
			t.Error("bob still waits although his time is over")
		}
		r.store.setFull(false)
		time.Sleep(engine.FrozenRetry)
		synctest.Wait()
		if r.holder("k") != "" || len(expiries(r.store, "k")) != 1 {
			t.Error("expiry did not go on")
		}
	})
}

// Any number of leases that end at once end at once, at most so many per record.
func TestExpiryInBatches(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const n = 2*hub.MaxExpireBatch + 5
		for i := range n {
			r.claim("ann", hub.ClaimKey(fmt.Sprintf("ns:%d", i)), 60+i%7)
		}
		time.Sleep(70 * time.Second)
		synctest.Wait()
		if left := r.Counts().Leases; left != 0 {
			t.Errorf("%d leases left", left)
		}
		if got := len(journaled[*core.LeaseExpired](r.store)); got != n {
			t.Errorf("%d expiries, want %d", got, n)
		}
		_ = r.store.Records(0, func(rec *core.Record) error {
			if len(rec.Facts) > hub.MaxExpireBatch {
				t.Errorf("record %d has %d facts", rec.Seq, len(rec.Facts))
			}
			return nil
		})
	})
}

// Locks are compared in canonical form, and the rest is as with claims.
func TestLocksAreLeasesOfPaths(t *testing.T) {
	r := start(t, newMemStore())
	ctx := t.Context()
	g, err := r.Lock(ctx, hub.LockInput{FilePath: "/a/b/../c", AgentID: "ann", TTLSec: 60})
	if err != nil || !g.Acquired || g.Row.FilePath != "/a/b/../c" {
		t.Fatalf("lock: %+v, %v", g, err)
	}
	if g, err := r.Lock(ctx, hub.LockInput{FilePath: "/a//c", AgentID: "bob", TTLSec: 60}); err != nil || g.Acquired || g.Row.AgentID != "ann" {
		t.Errorf("the same file under another name: %+v, %v", g, err)
	}
	if _, err := r.RefreshLock(ctx, hub.LockHoldInput{FilePath: "/a/c", AgentID: "ann", TTLSec: 60, Fence: 1}); err != nil {
		t.Errorf("refresh: %v", err)
	}
	if got, _, err := r.Locks(ctx, hub.LeasesQuery{ActiveOnly: true, Limit: 10}); err != nil || len(got) != 1 {
		t.Errorf("locks: %+v, %v", got, err)
	}
	if _, err := r.ReleaseLock(ctx, hub.LockHoldInput{FilePath: "/a/c", AgentID: "ann"}); err != nil {
		t.Errorf("release: %v", err)
	}
	if got, _, err := r.Locks(ctx, hub.LeasesQuery{Limit: 10}); err != nil || len(got) != 1 || got[0].ReleasedAt == nil {
		t.Errorf("locks that ended: %+v, %v", got, err)
	}
}

// A list names who waits for a lease, the first in line first, and no longer once the
// wait has ended by a grant, in time or by a caller that went.
func TestListsNameWhoWaitsForALease(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 600)
		waits := func(ctx context.Context, agent hub.AgentID, sec float64) {
			async(func() (hub.Grant[hub.Claim], error) {
				return r.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: "k", TTLSec: 60, WaitSec: sec})
			})
			synctest.Wait()
		}
		check := func(when string, want ...hub.AgentID) {
			t.Helper()
			rows, _, err := r.Claims(t.Context(), hub.LeasesQuery{ActiveOnly: true, Limit: 10})
			require.NoError(t, err)
			var got []hub.AgentID
			for _, w := range rows[0].Waiters {
				got = append(got, w.AgentID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v wait, want %v", when, got, want)
			}
		}
		check("before anyone waits")
		began := r.engine.Clock.Now().Wall
		goes, leave := context.WithCancel(t.Context())
		defer leave()
		waits(t.Context(), "bob", 50)
		waits(goes, "cid", 50)
		waits(t.Context(), "dan", 20)
		check("three in line", "bob", "cid", "dan")
		leave()
		synctest.Wait()
		check("one hung up", "bob", "dan")
		time.Sleep(21 * time.Second)
		synctest.Wait()
		check("one had no more time", "bob")
		if rows, _, _ := r.Claims(t.Context(), hub.LeasesQuery{ActiveOnly: true, Limit: 10}); rows[0].Waiters[0].Since != began {
			t.Errorf("waits since %v, want %v", rows[0].Waiters[0].Since, began)
		}
		r.release("ann", "k")
		synctest.Wait()
		check("the first was granted it")
	})
}
