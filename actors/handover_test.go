package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// workOn has an agent take a task with its claim and a lock.
func (r *rig) workOn(agent hub.AgentID, file string) hub.TaskID {
	r.t.Helper()
	id := r.post(hub.PostInput{FromAgent: "lead", Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: "paint " + file}).ID
	require.NoError(r.t, r.assign(id, agent, agent))
	if _, err := r.Claim(r.t.Context(), hub.ClaimInput{OwnerAgentID: agent, TaskMessageID: id, TTLSec: 60}); err != nil {
		r.t.Fatal(err)
	}
	r.lockFor(agent, file, id)
	return id
}

// lockFor locks a file for a task, or for no task if id is 0.
func (r *rig) lockFor(agent hub.AgentID, file string, id hub.TaskID) hub.Grant[hub.Lock] {
	r.t.Helper()
	in := hub.LockInput{FilePath: file, AgentID: agent, TTLSec: 60}
	if id != 0 {
		in.Metadata = forTask(id)
	}
	got, err := r.Lock(r.t.Context(), in)
	require.NoError(r.t, err)
	return got
}

// holders returns the agents that hold the claim on a task and the lock on a file.
func (r *rig) holders(id hub.TaskID, file string) string {
	r.t.Helper()
	holder := func(k core.LeaseKey) hub.AgentID {
		row, held := r.view.Leases.Row(k)
		if !held {
			return "nobody"
		}
		lease, err := core.DecodeLease(row)
		require.NoError(r.t, err)
		return lease.Agent
	}
	return fmt.Sprint(holder(core.LeaseKey{Space: core.SpaceClaim, Key: string(core.TaskKey(id))}), " ",
		holder(core.LeaseKey{Space: core.SpaceLock, Key: file}))
}

// TestLeasesFollowTheirTask: an agent that accepts a task, or is made its
// assignee, has the claims and locks for it when the call is answered. Both
// agents are told.
func TestLeasesFollowTheirTask(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.workOn("ann", "a.go")
		r.lockFor("ann", "own.go", 0)
		r.lockFor("cid", "cid.go", id)
		before := r.lockFor("ann", "a.go", id).Row
		r.handOver(id, "ann", "bob")
		if got := r.holders(id, "a.go"); got != "bob bob" {
			t.Errorf("after the hand-over the holders are %s", got)
		}
		after := r.lockFor("ann", "a.go", id)
		if after.Acquired || after.Row.AgentID != "bob" || after.Row.Fence <= before.Fence {
			t.Errorf("the lock passed from %+v to %+v", before, after)
		}
		_, err := r.ReleaseLock(t.Context(), hub.LockHoldInput{FilePath: "a.go", AgentID: "ann", Fence: before.Fence})
		wantCode(t, err, hub.CodeNotHolder)
		if own, others := r.lockFor("ann", "own.go", 0), r.lockFor("cid", "cid.go", id); !own.Acquired || !others.Acquired {
			t.Errorf("other leases passed too: %+v, %+v", own, others)
		}
		for agent, want := range map[hub.AgentID]struct {
			words string
			times int // the new one need not be told of the task's own claim
		}{"ann": {"passed from you to bob", 2}, "bob": {"passed from ann to you", 1}} {
			told := ""
			for _, m := range r.inbox(agent) {
				told += m.Body + "\n"
			}
			if strings.Count(told, want.words) != want.times || !strings.Contains(told, `"a.go"`) || strings.Contains(told, "own.go") {
				t.Errorf("%s was told %q", agent, told)
			}
		}
		require.NoError(t, r.assign(id, "lead", "dan"))
		if got := r.holders(id, "a.go"); got != "dan dan" {
			t.Errorf("after the update the holders are %s", got)
		}
		waits := r.waitFor(t.Context(), "eve", core.TaskKey(id), 50)
		failed := hub.TaskFailed
		if _, err := r.UpdateTask(t.Context(), id, hub.TaskUpdateInput{AgentID: "lead", Status: &failed, Release: true}); err != nil {
			t.Fatal(err)
		}
		if got := within(t, waits); got.err != nil || !got.v.Acquired || r.holders(id, "a.go") != "eve nobody" {
			t.Errorf("after the end the holders are %s; the waiter has %+v", r.holders(id, "a.go"), got)
		}
		if !r.lockFor("cid", "cid.go", id).Acquired {
			t.Error("the end released the lock of another agent")
		}
	})
}

// TestWaitersKeepTheirPlaces: while a lease passes, the requests that wait for it
// keep their order. A request of the new holder is answered.
func TestWaitersKeepTheirPlaces(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.workOn("ann", "a.go")
		key := core.TaskKey(id)
		first := r.waitFor(t.Context(), "cid", key, 50)
		own := r.waitFor(t.Context(), "bob", key, 50)
		last := r.waitFor(t.Context(), "dan", key, 50)
		r.handOver(id, "ann", "bob")
		if got := within(t, own); got.err != nil || !got.v.Acquired || got.v.Row.OwnerAgentID != "bob" {
			t.Errorf("the new holder's request: %+v", got)
		}
		parked(t, first)
		r.release("bob", key)
		if got := within(t, first); got.err != nil || !got.v.Acquired {
			t.Errorf("the first in the queue: %+v", got)
		}
		parked(t, last)
		r.release("cid", key)
		within(t, last)
	})
}

// TestHandoverCrashAtEveryStep: wherever the hub dies while a task passes on or
// ends, all claims and locks for it are with one agent in the end, the assignee,
// or with none. Each agent is told of a lease once.
func TestHandoverCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 4; nth++ { // three commands, and none
			t.Run(fmt.Sprintf("accepted-%s-%d", step, nth), func(t *testing.T) {
				crashHandover(t, step, nth, "bob bob", 1, func(ctx context.Context, r *rig, id hub.TaskID) error {
					_, err := r.AcceptTask(ctx, id, hub.OfferInput{AgentID: "bob"})
					return err
				})
			})
			t.Run(fmt.Sprintf("completed-%s-%d", step, nth), func(t *testing.T) {
				crashHandover(t, step, nth, "nobody nobody", 0, func(ctx context.Context, r *rig, id hub.TaskID) error {
					_, err := r.CompleteTask(ctx, id, hub.CompleteInput{AgentID: "ann", Release: true})
					return err
				})
			})
		}
	}
}

// crashHandover ends a hub at a step of act, which is about a task of ann that is
// offered to bob.
func crashHandover(t *testing.T, step engine.Step, nth int, holders string, told int, act func(context.Context, *rig, hub.TaskID) error) {
	synctest.Test(t, func(t *testing.T) {
		crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
		r := start(t, crash.store, crash.option)
		id := r.workOn("ann", "a.go")
		if _, err := r.HandoffTask(t.Context(), id, hub.HandoffInput{AgentID: "ann", ToAgent: "bob"}); err != nil {
			t.Fatal(err)
		}
		crash.arm()
		ctx := withKey(context.Background(), "k", "b")
		require.NoError(t, act(ctx, r, id))
		if got := r.holders(id, "a.go"); got != holders {
			t.Errorf("without a crash the holders are %s", got)
		}
		left := crash.over()
		r.stop()
		again := start(t, left)
		synctest.Wait()
		task, err := again.view.AnyTask(id)
		if moved := task.Task.OfferedTo == nil; err != nil || moved && again.holders(id, "a.go") != holders {
			t.Errorf("after the start the holders are %s, %v", again.holders(id, "a.go"), err)
		}
		require.NoError(t, act(ctx, again, id))
		if got := again.holders(id, "a.go"); got != holders {
			t.Errorf("after the repeated call the holders are %s", got)
		}
		for _, agent := range []hub.AgentID{"ann", "bob"} {
			n := 0
			for _, m := range again.inbox(agent) {
				n += strings.Count(m.Body, `lock "a.go"`)
			}
			if n != told {
				t.Errorf("%s was told of the lock %d times", agent, n)
			}
		}
		again.stop()
	})
}
