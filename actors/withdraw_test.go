package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// A group that meets a full disk is taken back: its callers are told that nothing
// was written, nobody sees any of it, its numbers are given out again, and the hub
// goes on.
func TestGroupWithoutRoomIsTakenBack(t *testing.T) {
	ctx := context.Background()
	r := start(t, newMemStore())
	r.register("ann")
	r.channel("c")
	first := r.say("ann", "c", "kept")
	held := r.claim("ann", "k", 600)
	task := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "work", ThreadID: "t"})
	before := r.state()

	r.store.setNoRoom(true)
	refused := map[string]error{}
	_, refused["post"] = r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Channel: "c", Body: "lost", ThreadID: "t"})
	_, refused["claim"] = r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k2", TTLSec: 60})
	_, refused["release"] = r.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: "ann", ClaimKey: "k"})
	_, refused["register"] = r.Register(ctx, hub.RegisterInput{AgentID: "ann"})
	_, refused["channel"] = r.CreateChannel(ctx, hub.ChannelInput{Name: "new", CreatedBy: "ann"})
	_, refused["task"] = r.CompleteTask(ctx, task.ID, hub.CompleteInput{AgentID: "ann"})
	_, refused["project"] = r.CreateProject(ctx, hub.ProjectInput{Name: "P"})
	for what, err := range refused {
		if codeOf(err) != hub.CodeStorageFull {
			t.Errorf("%s on a full disk: %v, want %s", what, err, hub.CodeStorageFull)
		}
	}
	wantSameState(t, "on the full disk", r.state(), before)
	select {
	case <-r.Failed():
		t.Fatalf("a full disk ended the hub: %v", r.Cause())
	default:
	}

	r.store.setNoRoom(false)
	if next := r.say("ann", "c", "after"); next.ID != task.ID+1 || next.ID <= first.ID {
		t.Errorf("the next message is %d, want %d: numbers of what was not written are free", next.ID, task.ID+1)
	}
	if g := r.claim("bob", "k", 60); g.Acquired {
		t.Errorf("bob has the claim whose release was not written: %+v", g.Row)
	}
	if g := r.claim("bob", "k2", 60); !g.Acquired || g.Row.Fence != held.Row.Fence+1 {
		t.Errorf("grant %+v, want fence %d", g, held.Row.Fence+1)
	}
	if got, err := r.Task(ctx, task.ID, "ann"); err != nil || got.Status.Terminal() {
		t.Errorf("task %+v, %v: its completion was not written", got, err)
	}
	live := r.state()
	wantSameState(t, "from the journal", start(t, r.crash()).state(), live)
}

// A session that was taken back displaces nobody: calls that prove the one before
// go on.
func TestSessionWithoutRoomDisplacesNobody(t *testing.T) {
	r := start(t, newMemStore())
	s := r.register("ann")
	r.store.setNoRoom(true)
	if _, err := r.Register(context.Background(), hub.RegisterInput{AgentID: "ann"}); codeOf(err) != hub.CodeStorageFull {
		t.Fatalf("register on a full disk: %v", err)
	}
	r.store.setNoRoom(false)
	if _, err := r.tryPost(asSession(context.Background(), s.Session), hub.PostInput{FromAgent: "ann", Body: "still here"}); err != nil {
		t.Errorf("a post that proves the session before: %v", err)
	}
}

// What was decided on a record that is then taken back is taken back with it,
// answers without effect too.
func TestAnswersOnWhatIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		gate := make(chan struct{})
		r.store.setGate(gate)
		claim := func(agent hub.AgentID) <-chan result[hub.Grant[hub.Claim]] {
			return async(func() (hub.Grant[hub.Claim], error) {
				return r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: "k", TTLSec: 60})
			})
		}
		ann := claim("ann")
		synctest.Wait()
		bob := claim("bob") // refused because of ann's, which is not durable yet
		synctest.Wait()
		r.store.setNoRoom(true)
		close(gate)
		for name, answer := range map[string]<-chan result[hub.Grant[hub.Claim]]{"ann": ann, "bob": bob} {
			if got := <-answer; codeOf(got.err) != hub.CodeStorageFull {
				t.Errorf("%s: %+v, %v", name, got.v, got.err)
			}
		}
		r.store.setNoRoom(false)
		if g := r.claim("bob", "k", 60); !g.Acquired {
			t.Errorf("the claim is held by %s, whose grant was taken back", g.Row.OwnerAgentID)
		}
	})
}

// A claim goes on waiting while the release of its lease is taken back, and is
// granted when there is room and the lease is released again.
func TestWaiterOutlivesAReleaseWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "k", 600)
		bob := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 60, WaitSec: 50})
		})
		carl := async(func() (hub.Grant[hub.Claim], error) {
			synctest.Wait()
			return r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: "carl", ClaimKey: "k", TTLSec: 60, WaitSec: 50})
		})
		time.Sleep(time.Second) // of the bubble: both are parked
		r.store.setNoRoom(true)
		release := hub.ClaimHoldInput{AgentID: "ann", ClaimKey: "k"}
		if _, err := r.ReleaseClaim(context.Background(), release); codeOf(err) != hub.CodeStorageFull {
			t.Errorf("release on a full disk: %v", err)
		}
		r.store.setNoRoom(false)
		if _, err := r.ReleaseClaim(context.Background(), release); err != nil {
			t.Errorf("release: %v", err)
		}
		// If bob's grant was in the same group as the refused release, it was refused with it.
		// If not, bob waits on and comes first.
		if got := <-bob; got.err == nil && got.v.Acquired {
			if _, err := r.ReleaseClaim(context.Background(), hub.ClaimHoldInput{AgentID: "bob", ClaimKey: "k"}); err != nil {
				t.Errorf("release by bob: %v", err)
			}
		} else if codeOf(got.err) != hub.CodeStorageFull {
			t.Errorf("bob: %+v, %v", got.v, got.err)
		}
		if got := <-carl; got.err != nil || !got.v.Acquired {
			t.Errorf("carl: %+v, %v", got.v, got.err)
		}
	})
}

// A full disk that lasts costs no busy loop: leases that are over wait for room.
func TestExpiryWithoutRoomDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "k", 10)
		r.store.setNoRoom(true)
		r.store.mu.Lock()
		before := r.store.appends
		r.store.mu.Unlock()
		time.Sleep(time.Minute)
		r.store.mu.Lock()
		tries := r.store.appends - before
		r.store.mu.Unlock()
		if tries == 0 || tries > 120 {
			t.Errorf("%d writes were tried in a minute", tries)
		}
		r.store.setNoRoom(false)
		time.Sleep(5 * time.Second)
		if g := r.claim("bob", "k", 60); !g.Acquired {
			t.Errorf("the lease has not expired: %+v", g.Row)
		}
	})
}

// A stop right after a group was taken back saves no state that is ahead of the
// journal: the next start would skip records whose numbers were given out again.
func TestStopSavesNothingThatWasTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := start(t, newMemStore())
		first := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "kept"})
		r.store.setNoRoom(true)
		for range 3 {
			if _, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "taken back"}); codeOf(err) != hub.CodeStorageFull {
				t.Fatalf("a task on a full disk: %v", err)
			}
		}
		synctest.Wait() // the owner has loaded its state anew
		o, _ := r.engine.Find(core.TasksOwner())
		o.Withdrawn.Store(true) // as if it had not
		r.store.setNoRoom(false)
		r.stop()
		if len(r.store.saved) != 0 {
			t.Error("a checkpoint was saved with an owner that is ahead of the journal")
		}
		again := start(t, r.store.restarted())
		second := again.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "after"})
		for id, want := range map[hub.TaskID]bool{first.ID: true, second.ID: true, second.ID + 1: false} {
			if _, err := again.Task(ctx, id, "ann"); (err == nil) != want {
				t.Errorf("task %d: %v", id, err)
			}
		}
		live := again.state()
		wantSameState(t, "from the journal", start(t, again.crash()).state(), live)
	})
}

// A claim that waits behind a grant that is taken back is served without
// another call.
func TestWaiterBehindAGrantWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		gate := make(chan struct{})
		r.store.setGate(gate)
		claim := func(agent hub.AgentID, wait float64) <-chan result[hub.Grant[hub.Claim]] {
			return async(func() (hub.Grant[hub.Claim], error) {
				return r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: "k", TTLSec: 60, WaitSec: wait})
			})
		}
		ann := claim("ann", 0)
		synctest.Wait()
		bob := claim("bob", 50)
		synctest.Wait()
		r.store.setNoRoom(true)
		close(gate)
		if got := <-ann; codeOf(got.err) != hub.CodeStorageFull {
			t.Errorf("ann: %+v, %v", got.v, got.err)
		}
		r.store.setNoRoom(false)
		begun := time.Now()
		if got := <-bob; got.err != nil || !got.v.Acquired || time.Since(begun) > 5*time.Second {
			t.Errorf("bob: %+v, %v after %v", got.v, got.err, time.Since(begun))
		}
	})
}

// An expiry that was taken back is done when there is room, without anybody's help.
func TestExpiryWithoutRoomIsDoneLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "k", 10)
		bob := async(func() (hub.Grant[hub.Claim], error) {
			time.Sleep(time.Second)
			return r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "other", TTLSec: 600})
		})
		<-bob
		time.Sleep(8 * time.Second)
		r.store.setNoRoom(true)
		time.Sleep(2 * time.Second) // the deadline comes, and its record is taken back
		r.store.setNoRoom(false)
		time.Sleep(3 * time.Second)
		if h := r.holder("k"); h != "" {
			t.Errorf("%s holds a lease that is over", h)
		}
	})
}

// A panic in Apply whose record is taken back leaves no doubt behind.
func TestPanicInApplyWithoutRoom(t *testing.T) {
	p, broken := breaks(0, ofType[*core.LeaseGranted])
	r := start(t, newMemStore(), broken)
	r.claim("ann", "a", 60)
	r.store.setNoRoom(true)
	p.left.Store(1)
	if _, err := r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "b", TTLSec: 60}); codeOf(err) != hub.CodeStorageFull {
		t.Errorf("a claim on a full disk: %v", err)
	}
	r.store.setNoRoom(false)
	if g := r.claim("bob", "b", 60); !g.Acquired {
		t.Errorf("grant %+v", g)
	}
	if g := r.claim("bob", "a", 60); g.Acquired {
		t.Errorf("ann's claim was lost")
	}
	if q := r.Quarantined(); len(q) != 0 {
		t.Errorf("in quarantine: %+v", q)
	}
}

// Invariants 1 and 6 on a disk that is full now and then without a warning: what
// was acknowledged is there, and live state is replayed state.
func TestReplayEqualsLiveOnAFullDisk(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			store := newMemStore()
			store.delay = randomDelay(seed, time.Millisecond)
			rng := rand.New(rand.NewPCG(seed, 11))
			withdrawn := 0
			store.noRoom = func() bool { // guarded by store.mu
				no := rng.IntN(8) == 0
				if no {
					withdrawn++
				}
				return no
			}
			r, l := start(t, store), newLedger()
			loaded := make(chan struct{})
			go func() {
				defer close(loaded)
				load(r, l, seed, 8, 60)
			}()
			for done := false; !done; {
				select {
				case <-loaded:
					done = true
				case <-time.After(3 * time.Millisecond):
					_, _ = r.engine.SaveCheckpoint() // some are refused
				}
			}
			store.setNoRoom(false)
			r.idle()
			if withdrawn == 0 {
				t.Fatal("the disk was never full")
			}
			live := r.state()
			left := r.crash()
			wantRowsOfFacts(t, left.disk)
			journal := left.restarted()
			journal.disk.checkpoint = nil
			again := start(t, journal)
			wantSameState(t, "from the journal", again.state(), live)
			l.check(t, again)
			for _, c := range store.saved[max(0, len(store.saved)-2):] {
				s := left.restarted()
				s.disk.checkpoint = &c
				wantSameState(t, fmt.Sprint("from the checkpoint at ", c.Head.Seq), start(t, s).state(), live)
			}
		})
	}
}
