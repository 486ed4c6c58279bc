package actors

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func TestQuarantineTakesOneOwnerOut(t *testing.T) {
	bad := core.LeaseOwner(core.LeaseShard(core.LeaseKey{Space: core.SpaceClaim, Key: "bad:1"}))
	isBad := func(o core.Owner, f core.Fact) bool { return o == bad && ofType[*core.LeaseGranted](o, f) }
	_, broken := breaks(-1, isBad)
	store := newMemStore()
	r := start(t, store, broken)
	good := hub.ClaimKey("default-namespace")
	if core.LeaseOwner(core.LeaseShard(core.LeaseKey{Space: core.SpaceClaim, Key: string(good)})) == bad {
		t.Fatal("choose another key")
	}
	checks := func(r *rig) {
		t.Helper()
		_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "bad:2", TTLSec: 60})
		wantCode(t, err, hub.CodeQuarantined)
		if q := r.Quarantined(); len(q) != 1 || q[0].Owner != bad.String() || q[0].Seq == 0 || q[0].Reason == "" {
			t.Errorf("Quarantined() = %+v", q)
		}
		if g := r.claim("bob", good, 60); !g.Acquired {
			t.Errorf("another owner's claim: %+v", g)
		}
		r.say("bob", "", "goes on")
		r.register("bob")
		if m := r.post(hub.PostInput{FromAgent: "bob", Kind: hub.KindTask, Body: "x"}); m.ID == 0 {
			t.Error("no task")
		}
		for _, active := range []bool{true, false} {
			if _, _, err := r.Claims(t.Context(), hub.LeasesQuery{ActiveOnly: active, Limit: 100}); err != nil {
				t.Errorf("listing the claims of all owners: %v", err)
			}
		}
		if _, _, err := r.Threads(t.Context(), hub.ThreadsQuery{Limit: 10}); err != nil {
			t.Errorf("threads: %v", err)
		}
		select {
		case <-r.Failed():
			t.Errorf("the hub failed: %v", r.Cause())
		default:
		}
	}
	if g, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "bad:1", TTLSec: 60}); err != nil || !g.Acquired {
		t.Fatalf("the record stands, so its caller gets its answer; got %+v, %v", g, err)
	}
	checks(r)
	r.stop()
	_, broken = breaks(-1, isBad)
	checks(start(t, store, broken))
}

func TestQuarantineEndsWhenTheRecordCanBeApplied(t *testing.T) {
	renamed := hub.RenameInput{DisplayName: "A"}
	for name, c := range map[string]struct {
		bad  func(core.Owner, core.Fact) bool
		act  func(r *rig) error
		know func(r *rig) bool
	}{
		"permanent": {
			ofType[*core.LeaseGranted],
			func(r *rig) error {
				_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 600})
				return err
			},
			func(r *rig) bool { return r.holder("k") == "ann" },
		},
		"loaded on demand": {
			ofType[*core.SessionRenamed],
			func(r *rig) error {
				_, err := r.Rename(t.Context(), "ann", renamed)
				return err
			},
			func(r *rig) bool {
				row, err := r.view.AgentRow("ann")
				return err == nil && row.Session.DisplayName == "A"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemStore()
			r := start(t, store)
			r.register("ann")
			r.stop()
			for range 2 {
				_, broken := breaks(-1, c.bad)
				r = start(t, store, broken)
				_ = c.act(r)
				r.idle()
				if q := r.Quarantined(); len(q) != 1 {
					t.Fatalf("Quarantined() = %+v", q)
				}
				if _, err := r.engine.SaveCheckpoint(); err == nil {
					t.Error("a checkpoint is saved over the record")
				}
				r.stop()
			}
			for range 2 {
				r = start(t, store)
				r.idle()
				if q := r.Quarantined(); len(q) != 0 || !c.know(r) {
					t.Fatalf("Quarantined() = %+v; is the record known: %v", q, c.know(r))
				}
				if err := c.act(r); err != nil {
					t.Error(err)
				}
				r.stop()
			}
		})
	}
}

func TestQuarantineStaysWithoutItsRecord(t *testing.T) {
	_, broken := breaks(-1, ofType[*core.SessionRenamed])
	store := newMemStore()
	r := start(t, store, broken)
	r.register("ann")
	_, _ = r.Rename(t.Context(), "ann", hub.RenameInput{DisplayName: "A"})
	r.idle()
	c, err := r.engine.Checkpoint() // as an older version saved it
	require.NoError(t, errors.Join(err, store.SaveCheckpoint(c)))
	r.stop()
	store.forgetRecords()
	r = start(t, store)
	r.idle()
	if q := r.Quarantined(); len(q) != 1 || !strings.Contains(q[0].Reason, "is missing") {
		t.Errorf("Quarantined() = %+v", q)
	}
	_, err = r.Rename(t.Context(), "ann", hub.RenameInput{DisplayName: "B"})
	wantCode(t, err, hub.CodeQuarantined)
}

func TestQuarantineAtReplay(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	r.claim("ann", "bad:1", 60)
	m := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "x"})
	left := r.crash()
	_, broken := breaks(-1, ofType[*core.LeaseGranted])
	r = start(t, left, broken)
	if q := r.Quarantined(); len(q) != 1 || q[0].Seq != 1 {
		t.Fatalf("Quarantined() = %+v", q)
	}
	_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "bad:1", TTLSec: 60})
	wantCode(t, err, hub.CodeQuarantined)
	if got, err := r.Task(t.Context(), m.ID, ""); err != nil || got.Status != hub.TaskOpen {
		t.Errorf("task %+v, %v", got, err)
	}
}

func TestQuarantineAnswersWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, broken := breaks(-1, ofType[*core.LeaseReleased])
		r := start(t, newMemStore(), broken)
		r.claim("ann", "k", 600)
		bob := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 60, WaitSec: 50})
		})
		synctest.Wait()
		r.release("ann", "k")
		synctest.Wait()
		select {
		case g := <-bob:
			wantCode(t, g.err, hub.CodeQuarantined)
		default:
			t.Error("bob still waits")
			<-bob
		}
		if n := r.Counts().ParkedPolls; n != 0 {
			t.Errorf("%d parked calls are counted", n)
		}
		r.stop()
	})
}

func TestQuarantineThatCannotBeMarkedIsFailStop(t *testing.T) {
	_, broken := breaks(-1, ofType[*core.LeaseGranted])
	store := newMemStore()
	store.putRows = func([]core.Row) error { return errDisk }
	r := start(t, store, broken)
	r.claim("ann", "k", 60)
	<-r.Failed()
	if !errors.Is(r.Cause(), errDisk) {
		t.Errorf("Cause() = %v", r.Cause())
	}
}
