package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/leases"
	"hubcli/hub"
)

// panicky is an ApplyHook that panics as often as it is told to.
type panicky struct {
	left atomic.Int32 // how many more times; negative: always
	at   func(core.Owner, core.Fact) bool
}

func (p *panicky) hook(o core.Owner, f core.Fact) {
	if p.at(o, f) && p.left.Load() != 0 {
		p.left.Add(-1)
		panic("apply is broken")
	}
}

func breaks(times int32, at func(core.Owner, core.Fact) bool) (*panicky, func(*Options)) {
	p := &panicky{at: at}
	p.left.Store(times)
	return p, func(o *Options) { o.ApplyHook = p.hook }
}

func ofType[F core.Fact](_ core.Owner, f core.Fact) bool {
	_, ok := f.(F)
	return ok
}

// A panic in Apply: the caller still gets Decide's result once it is durable,
// the owner is rebuilt, and rows and views say what the record says.
func TestPanicInApplyRebuildsTheOwner(t *testing.T) {
	ctx := context.Background()
	t.Run("agent", func(t *testing.T) {
		_, broken := breaks(1, ofType[*core.SessionStarted])
		r := start(t, newMemStore(), broken)
		s := r.register("ann")
		if got, _, _ := r.Agents(ctx, hub.AgentsQuery{}); len(got) != 1 || got[0].SessionID != s.SessionID.Public() {
			t.Errorf("live sessions %+v, want the one registered", got)
		}
		if _, err := r.Rename(ctx, "ann", hub.RenameInput{DisplayName: "Ann"}); err != nil {
			t.Errorf("rename after the rebuild: %v", err)
		}
		row, err := r.view.AgentRow("ann")
		if err != nil || row == nil || !row.Session.Active || row.Session.DisplayName != "Ann" || row.Session.Incarnation != 1 {
			t.Errorf("stored row %+v, %v", row, err)
		}
	})
	t.Run("channel", func(t *testing.T) {
		_, broken := breaks(1, ofType[*core.ChannelCreated])
		r := start(t, newMemStore(), broken)
		r.channel("c")
		r.idle()
		r.say("ann", "c", "hello")
		if out, err := r.CreateChannel(ctx, hub.ChannelInput{Name: "c", CreatedBy: "bob"}); err != nil || out.Created || out.Row.CreatedBy != "ann" {
			t.Errorf("second creation %+v, %v, want ann's channel", out, err)
		}
	})
	t.Run("leases", func(t *testing.T) {
		_, broken := breaks(1, ofType[*core.LeaseGranted])
		r := start(t, newMemStore(), broken)
		if g := r.claim("ann", "k", 60); !g.Acquired || g.Row.Fence != 1 {
			t.Errorf("grant %+v", g)
		}
		if g := r.claim("bob", "k", 60); g.Acquired || g.Row.OwnerAgentID != "ann" {
			t.Errorf("bob's claim %+v, want ann's row", g)
		}
		if h := r.holder("k"); h != "ann" {
			t.Errorf("the view shows %q as holder, want ann", h)
		}
	})
	t.Run("tasks", func(t *testing.T) {
		_, broken := breaks(1, ofType[*core.TaskOpened])
		r := start(t, newMemStore(), broken)
		m := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "work"})
		if _, err := r.CompleteTask(ctx, m.ID, hub.CompleteInput{AgentID: "bob"}); err != nil {
			t.Errorf("complete: %v", err)
		}
		if got, err := r.Task(ctx, m.ID, "bob"); err != nil || got.Status != hub.TaskDone {
			t.Errorf("task %+v, %v, want done", got, err)
		}
		if n := r.view.Tasks.Len(); n != 0 {
			t.Errorf("%d open tasks in the view, want 0", n)
		}
	})
	t.Run("projects", func(t *testing.T) {
		p, broken := breaks(0, func(_ core.Owner, f core.Fact) bool { _, ok := f.(*core.RoomCreated); return ok })
		r := start(t, newMemStore(), broken)
		old := r.newRoom("Old")
		if _, err := r.engine.SaveCheckpoint(); err != nil {
			t.Fatalf("checkpoint: %v", err)
		}
		r.store.forgetRecords()
		p.left.Store(1)
		room := r.newRoom("New")
		r.idle()
		if got, err := r.view.Room(room.RoomID); err != nil || got.Name != "New" || got.Channel != room.Channel {
			t.Errorf("the view shows %+v, %v", got, err)
		}
		r.say("ann", room.Channel, "hello")
		_, err := r.CreateRoom(ctx, hub.RoomInput{Project: "rooms", Name: "new"})
		wantCode(t, err, hub.CodeSimilarRoomExists)
		again := start(t, r.crash())
		for _, id := range []hub.RoomID{old.RoomID, room.RoomID} {
			if _, err := again.view.Room(id); err != nil {
				t.Errorf("after a restart: %v", err)
			}
		}
	})
}

// A rebuild shows how tasks are, not how they came to be: what has ended does not
// live once more, and an agent that was free stays so since then.
func TestRebuildShowsNoOldTask(t *testing.T) {
	p, broken := breaks(0, ofType[*core.TaskOpened])
	r := start(t, newMemStore(), broken)
	r.register("bob")
	working := hub.TaskWorking
	var ids []hub.TaskID
	for range 2 {
		m := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Kind: hub.KindTaskRequest, Body: "work"})
		if _, err := r.UpdateTask(t.Context(), m.ID, hub.TaskUpdateInput{AgentID: "bob", Status: &working}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	if _, err := r.CompleteTask(t.Context(), ids[0], hub.CompleteInput{AgentID: "bob"}); err != nil {
		t.Fatal(err)
	}
	freed := func() hub.Time {
		d := r.view.Directory.Doing("bob")
		return d.Freed()
	}
	first := freed()
	if first == 0 {
		t.Fatal("bob was not freed")
	}
	time.Sleep(2 * time.Millisecond) // so that another time would be later
	p.left.Store(1)
	late := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "breaks"})
	r.idle()
	if !strings.Contains(r.log.String(), "owner rebuilt") {
		t.Fatal("nothing was rebuilt")
	}
	if at := freed(); at != first {
		t.Errorf("the rebuild freed bob at %d", at)
	}
	for id, want := range map[hub.TaskID]bool{ids[0]: false, ids[1]: true, late.ID: true} {
		if _, live := r.view.Tasks.Get(id); live != want {
			t.Errorf("task %d is live: %t, want %t", id, live, want)
		}
	}
}

// The state after a rebuild from a checkpoint and the records behind it is the
// state without the panic.
func TestRebuildStartsFromTheCheckpoint(t *testing.T) {
	p, broken := breaks(0, ofType[*core.LeaseReleased])
	r := start(t, newMemStore(), broken)
	for _, k := range names[hub.ClaimKey]("k", 20) {
		r.claim("ann", k, 60)
	}
	if _, err := r.engine.SaveCheckpoint(); err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
	r.store.forgetRecords()
	r.claim("bob", "late", 60)
	p.left.Store(1)
	r.release("ann", "k7")
	claims, _, err := r.Claims(t.Context(), hub.LeasesQuery{ActiveOnly: true, Limit: 100})
	if err != nil || len(claims) != 20 || r.holder("k7") != "" || r.holder("late") != "bob" {
		t.Errorf("%d claims, %v, k7 held by %q, late by %q", len(claims), err, r.holder("k7"), r.holder("late"))
	}
	if g := r.claim("eve", "k7", 60); !g.Acquired || g.Row.Fence != 22 {
		t.Errorf("k7 after the rebuild: %+v", g)
	}
}

// Agents and channels are rebuilt from their row, although records older than
// the oldest checkpoint are gone.
func TestRebuildOfAgentNeedsNoOldRecords(t *testing.T) {
	p, broken := breaks(0, ofType[*core.SessionRenamed])
	r := start(t, newMemStore(), broken)
	r.register("ann")
	for range 5 {
		r.say("bob", "", "x")
	}
	if _, err := r.engine.SaveCheckpoint(); err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
	r.store.forgetRecords()
	p.left.Store(1)
	if _, err := r.Rename(t.Context(), "ann", hub.RenameInput{DisplayName: "A"}); err != nil {
		t.Fatalf("rename: %v", err)
	}
	if _, err := r.Rename(t.Context(), "ann", hub.RenameInput{DisplayName: "B"}); err != nil {
		t.Errorf("rename after the rebuild: %v", err)
	}
	if q := r.Quarantined(); len(q) != 0 {
		t.Errorf("quarantined %+v, want none", q)
	}
	if row, err := r.view.AgentRow("ann"); err != nil || row.Session.DisplayName != "B" || !row.Session.Active {
		t.Errorf("row %+v, %v", row, err)
	}
}

// A fact that always panics puts its owner out of service, and nothing else,
// also after a restart.
// A quarantine ends with the first start that can apply the record, and the owner then
// knows the record. Until then no checkpoint lets the journal delete it.
// A record that the journal has deleted cannot be applied: the quarantine stays.
// A fact that panics for the first time at a start puts its owner alone into
// quarantine.
// A panic in Decide answers 500 and changes nothing.
func TestPanicInDecideChangesNothing(t *testing.T) {
	r := start(t, newMemStore())
	r.claim("ann", "k", 60)
	before := r.store.Head()
	_, _, err := engine.Submit(t.Context(), r.engine, engine.Command[*core.Tasks, struct{}, struct{}]{
		Owner:  core.TasksOwner(),
		Decide: func(*core.Tasks, core.Now) (core.Decision[struct{}], error) { panic("decide is broken") },
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	wantCode(t, err, hub.CodeInternal)
	key := core.LeaseKey{Space: core.SpaceClaim, Key: "k"}
	a := r.admitLease("bob", key, func(*core.Leases, core.Now) (core.Decision[core.LeaseAnswer], error) { panic("decide is broken") })
	a.Permit.Owner.Tell(leases.Turn(a, key, 0))
	_, err = a.Wait()
	wantCode(t, err, hub.CodeInternal)
	if r.store.Head() != before {
		t.Errorf("the journal moved from %+v to %+v", before, r.store.Head())
	}
	r.idle()
	if r.holder("k") != "ann" || !r.claim("bob", "k2", 60).Acquired {
		t.Error("the owner does not go on")
	}
}

// A panic while a waiter's turn is decided is that waiter's error alone: the
// release that served it stands, and the next waiter is served.
func TestPanicInDecideOfWaiterIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.claim("ann", "k", 600)
		calls := 0
		key := core.LeaseKey{Space: core.SpaceClaim, Key: "k"}
		a := r.admitLease("bob", key, func(l *core.Leases, now core.Now) (core.Decision[core.LeaseAnswer], error) {
			if calls++; calls == 2 {
				panic("decide is broken")
			}
			return l.Acquire(core.AcquireCommand{Space: key.Space, Key: key.Key, Agent: "bob", TTLSec: 60}, now), nil
		})
		a.Permit.Owner.Tell(leases.Turn(a, key, time.Minute))
		bob := async(a.Wait)
		synctest.Wait()
		eve := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "eve", ClaimKey: "k", TTLSec: 60, WaitSec: 60})
		})
		synctest.Wait()
		r.release("ann", "k")
		wantCode(t, within(t, bob).err, hub.CodeInternal)
		if g := within(t, eve); g.err != nil || !g.v.Acquired {
			t.Errorf("eve: %+v", g)
		}
		r.idle()
		r.stop()
	})
}

// Claims that wait are served after a rebuild, in turn, and no decision uses
// the state that is in doubt.
func TestWaitersOutliveRebuild(t *testing.T) {
	for name, at := range map[string]func(core.Owner, core.Fact) bool{
		"release": ofType[*core.LeaseReleased], "grant": func(_ core.Owner, f core.Fact) bool {
			g, ok := f.(*core.LeaseGranted)
			return ok && g.Agent == "bob"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, broken := breaks(1, at)
				r := start(t, newMemStore(), broken)
				r.claim("ann", "k", 600)
				wait := func(agent hub.AgentID) <-chan result[hub.Grant[hub.Claim]] {
					c := async(func() (hub.Grant[hub.Claim], error) {
						return r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: "k", TTLSec: 600, WaitSec: 30})
					})
					synctest.Wait()
					return c
				}
				bob, eve := wait("bob"), wait("eve")
				begun := time.Now()
				r.release("ann", "k")
				if g := within(t, bob); g.err != nil || !g.v.Acquired || time.Since(begun) > time.Second {
					t.Errorf("bob after %v: %+v", time.Since(begun), g)
				}
				synctest.Wait()
				if h := r.holder("k"); h != "bob" {
					t.Errorf("held by %q, want bob", h)
				}
				r.release("bob", "k")
				if g := within(t, eve); g.err != nil || !g.v.Acquired {
					t.Errorf("eve: %+v", g)
				}
				synctest.Wait()
				if n := r.Counts().ParkedPolls; n != 0 {
					t.Errorf("%d calls are counted as parked: a waiter was served twice", n)
				}
				r.stop()
			})
		})
	}
}

// A panic in an expiry does not stop the clock of the owner.
func TestExpiryGoesOnAfterRebuild(t *testing.T) {
	for name, at := range map[string]func(core.Owner, core.Fact) bool{
		"expired": ofType[*core.LeaseExpired], "granted": ofType[*core.LeaseGranted],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, broken := breaks(1, at)
				r := start(t, newMemStore(), broken)
				r.claim("ann", "k", 10)
				if name == "expired" {
					r.claim("ann", "k2", 20)
				}
				time.Sleep(25 * time.Second)
				synctest.Wait()
				if a, b := r.holder("k"), r.holder("k2"); a != "" || b != "" {
					t.Errorf("k held by %q, k2 by %q; both are over", a, b)
				}
				r.stop()
			})
		})
	}
}

// A claim that waits at an owner that goes into quarantine is told so. The mark
// of a quarantine must be durable; otherwise the hub ends. A rebuilt owner's
// rows equal those of one that never broke.
func TestRebuildRestoresRows(t *testing.T) {
	walk := func(o ...func(*Options)) *memStore {
		r := start(t, newMemStore(), o...)
		r.register("ann")
		r.channel("c")
		r.claim("ann", "k", 60)
		parent := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "p", ThreadID: "t"})
		child := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTaskRequest, Body: "c", ParentTaskID: parent.ID})
		r.post(hub.PostInput{FromAgent: "bob", Kind: hub.KindTaskResult, Body: "r", ReplyTo: child.ID})
		r.release("ann", "k")
		r.idle()
		return r.crash()
	}
	want := walk()
	for name, at := range map[string]func(core.Owner, core.Fact) bool{
		"started": ofType[*core.SessionStarted], "created": ofType[*core.ChannelCreated], "granted": ofType[*core.LeaseGranted],
		"released": ofType[*core.LeaseReleased], "opened": ofType[*core.TaskOpened], "changed": ofType[*core.TaskChanged],
	} {
		_, broken := breaks(1, at)
		got := walk(broken)
		for table, rows := range want.disk.rows {
			if len(got.disk.rows[table]) != len(rows) {
				t.Errorf("%s: table %d has %d rows, want %d", name, table, len(got.disk.rows[table]), len(rows))
			}
			for k, v := range rows {
				if g := got.disk.rows[table][k]; !sameButTimes(g, v) {
					t.Errorf("%s: table %d row %q\n got %s\nwant %s", name, table, k, g, v)
				}
			}
		}
	}
}

// sameButTimes compares JSON rows without what wall and hub time put into them.
func sameButTimes(a, b []byte) bool {
	strip := func(v []byte) any {
		var x any
		if json.Unmarshal(v, &x) != nil {
			return string(v)
		}
		dropTimes(x)
		return x
	}
	return bytes.Equal(a, b) || reflect.DeepEqual(strip(a), strip(b))
}

var timeFields = []string{"created_at", "last_seen", "since", "deadline_ms", "at", "expires", "latest_ts", "updated_at", "completed_at", "ended_at"}

func dropTimes(x any) {
	switch x := x.(type) {
	case map[string]any:
		for _, f := range timeFields {
			delete(x, f)
		}
		for _, v := range x {
			dropTimes(v)
		}
	case []any:
		for _, v := range x {
			dropTimes(v)
		}
	}
}
