package actors

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// A stop answers who waits for a lease before the server is asked to end, which
// waits for its calls.
func TestEndParkedAnswersWhoWaitsForALease(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.claim("ann", "k", 600)
		waiter := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 60, WaitSec: 50})
		})
		synctest.Wait()
		begun := time.Now()
		r.EndParked()
		if got := <-waiter; got.err != nil || got.v.Acquired || got.v.Row.OwnerAgentID != "ann" {
			t.Errorf("the waiter was answered %+v", got)
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("answered after %v", waited)
		}
	})
}

// A displaced session that waits for a lease is told at once, frees its place
// among the agent's parked calls and is never granted the lease.
func TestReplaceEndsWhoWaitsForALease(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		first := r.register("bob")
		r.claim("ann", "k", 600)
		waiter := async(func() (hub.Grant[hub.Claim], error) {
			return r.Claim(asSession(t.Context(), first.Session), hub.ClaimInput{OwnerAgentID: "bob", ClaimKey: "k", TTLSec: 60, WaitSec: 50})
		})
		synctest.Wait()
		begun := time.Now()
		r.register("bob")
		wantCode(t, (<-waiter).err, hub.CodeSessionReplaced)
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("answered after %v", waited)
		}
		if n := r.Counts().ParkedPolls; n != 0 {
			t.Errorf("%d calls are parked", n)
		}
		r.release("ann", "k")
		if h := r.holder("k"); h != "" {
			t.Errorf("%s was granted the lease", h)
		}
	})
}

// A write of a displaced session stays refused after the session that displaced
// it has ended.
func TestDisplacedStaysRefusedAfterTheOtherEnded(t *testing.T) {
	r := start(t, newMemStore())
	first := r.register("ann")
	second := r.register("ann")
	if _, err := r.CloseSession(t.Context(), second.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	_, err := r.tryPost(asSession(t.Context(), first.Session), hub.PostInput{FromAgent: "ann", Channel: "general", Kind: hub.KindChat, Body: "x"})
	wantCode(t, err, hub.CodeSessionReplaced)
}

// A record whose Apply panicked carries no rows but a mark. If the process ends
// before the rebuild, the next start derives them.
func TestDeathBeforeTheRebuildLosesNoRows(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	r.register("ann")
	r.idle()
	disk := r.crash()
	// What a death between the commit and the rebuild leaves behind: the record,
	// and the mark in place of its rows.
	for _, table := range []core.Table{core.TableAgent, core.TableSession} {
		delete(disk.disk.rows, table)
	}
	require.NoError(t, disk.PutRows([]core.Row{dirtyMark("ann", 1)}))
	again := start(t, disk)
	row, err := again.view.AgentRow("ann")
	if err != nil || row == nil || row.Session.Incarnation != 1 {
		t.Fatalf("the agent's row is %+v, %v", row, err)
	}
	if next := again.register("ann"); next.Incarnation != 2 {
		t.Errorf("the next session has incarnation %d, want 2", next.Incarnation)
	}
	value, err := again.rows.Row(core.TableDirty, []byte(core.AgentOwner("ann").String()))
	if err != nil || string(value) != string(dirtyMark("ann", 0).Value) {
		t.Errorf("the mark is %s, %v", value, err)
	}
}

// The operator sees direct messages in threads, and nobody else does.
func TestOperatorReadsThreadsOfDirectMessages(t *testing.T) {
	r := start(t, newMemStore())
	r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Kind: hub.KindChat, Body: "secret", ThreadID: "t"})
	r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindChat, Channel: "general", Body: "public", ThreadID: "u"})
	operator := hub.WithCaller(t.Context(), &hub.Caller{Operator: true})
	thread, err := r.Thread(operator, "t", "")
	if err != nil || len(thread.Messages) != 1 || thread.Thread.MessageCount != 1 {
		t.Errorf("the operator's thread is %+v, %v", thread, err)
	}
	list, _, err := r.Threads(operator, hub.ThreadsQuery{Limit: 10})
	if err != nil || len(list) != 2 || list[0].ThreadID != "u" || list[1].MessageCount != 1 {
		t.Errorf("the operator's threads are %+v, %v", list, err)
	}
	_, err = r.Thread(t.Context(), "t", "eve")
	wantCode(t, err, hub.CodeThreadNotFound)
	if list, _, err := r.Threads(t.Context(), hub.ThreadsQuery{Viewer: "eve", Limit: 10}); err != nil || len(list) != 1 {
		t.Errorf("another agent's threads are %+v, %v", list, err)
	}
}

// A start with many leases that are nearly over takes no turn before every view
// stands: the first turns of the lease owners write them already.
func TestStartWithManyShortLeases(t *testing.T) {
	r := start(t, newMemStore())
	for i := range 400 {
		r.claim("ann", hub.ClaimKey(fmt.Sprintf("ns%d:k", i)), 3)
	}
	left := r.crash()
	for range 5 {
		again := start(t, left)
		left = left.restarted()
		if n := again.Counts().Leases; n != 400 {
			t.Fatalf("%d leases after a start, want 400", n)
		}
		again.stop()
	}
}

// dirtyMark is the stored mark of an agent's owner whose record seq lacks its rows.
func dirtyMark(agent hub.AgentID, seq hub.Seq) core.Row {
	k := core.AgentOwner(agent)
	value, err := json.Marshal(map[string]any{"owner": k, "seq": seq})
	if err != nil {
		panic(err)
	}
	return core.Row{Table: core.TableDirty, Key: []byte(k.String()), Value: value}
}
