package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// ghost has ann take all that an agent can have, and go away for an hour. ben gave it the tasks, and
// cleo waits for a claim of it.
func (r *rig) ghost() (room hub.Room, tasks []hub.TaskID) {
	r.t.Helper()
	room = r.roomWithSeats("ann", "ben")
	r.register("ann")
	r.claim("ann", "key", 7200)
	_, err := r.Lock(r.t.Context(), hub.LockInput{AgentID: "ann", FilePath: "/a", TTLSec: 7200})
	require.NoError(r.t, err)
	mine := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Channel: room.Channel, Kind: hub.KindTaskRequest, Body: "paint"}).ID
	offered := r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Kind: hub.KindTask, Body: "wash"}).ID
	_, err = r.HandoffTask(r.t.Context(), offered, hub.HandoffInput{AgentID: "ben", ToAgent: "ann"})
	require.NoError(r.t, err)
	return room, []hub.TaskID{mine, offered}
}

// has says in short what ann has, and whether she is live.
func (r *rig) has() string {
	r.t.Helper()
	seats, err := r.seatsByAgent()
	require.NoError(r.t, err)
	b := r.belongings("ann", seats["ann"])
	_, lives := r.live("ann")
	return fmt.Sprint(len(b.Rooms), len(b.Tasks), len(b.Offers), len(b.Claims), len(b.Locks), lives)
}

func (r *rig) retire(agent hub.AgentID) (hub.RetiredAgent, error) {
	out, err := r.Retire(asOperator(context.Background()), agent, hub.RetireInput{Reason: "long gone"})
	return out.Row, err
}

// idleFor lists the agents that have done nothing for a time.
func (r *rig) idleFor(d time.Duration) (agents []hub.AgentID) {
	r.t.Helper()
	idle, err := r.IdleAgents(r.t.Context(), hub.IdleAgentsQuery{IdleSec: int(d.Seconds())})
	require.NoError(r.t, err)
	for _, a := range idle.Agents {
		agents = append(agents, a.AgentID)
	}
	return agents
}

// TestRetire: an agent that is gone is listed as idle. Retired, it has nothing any more, its tasks are
// nobody's, an agent that waits for it goes on, and the one that gave it the tasks is told once. That holds after a
// restart.
func TestRetire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room, tasks := r.ghost()
		cleo := r.waitFor(t.Context(), "cleo", "key", 3600)
		_, err := r.retire("ann")
		wantCode(t, err, hub.CodeNotGone)
		time.Sleep(50 * time.Minute)
		if got := r.idleFor(time.Hour); len(got) != 0 {
			t.Errorf("an hour ago: %v", got)
		}
		if got := r.idleFor(40 * time.Minute); !slices.Contains(got, "ann") || slices.Contains(got, "cleo") {
			t.Errorf("40 minutes ago: %v", got)
		}
		if got := r.asleepAgents(); !slices.Contains(got, "ann") { // and ben, who is told of ann's task
			t.Errorf("asleep are %v", got)
		}
		before := len(r.inbox("ben"))
		row, err := r.retire("ann")
		require.NoError(t, err)
		if len(row.Rooms) != 1 || len(row.Tasks) != 1 || len(row.Offers) != 1 || len(row.Claims) != 1 || len(row.Locks) != 1 {
			t.Errorf("taken from it: %+v", row)
		}
		if got := <-cleo; got.err != nil || !got.v.Acquired || got.v.Row.Fence < 2 {
			t.Errorf("who waits got %+v", got)
		}
		synctest.Wait()
		gone := func(when string) {
			t.Helper()
			if got := r.has(); got != "0 0 0 0 0 false" {
				t.Errorf("%s it has %s", when, got)
			}
			if got := r.asleepAgents(); slices.Contains(got, "ann") {
				t.Errorf("%s asleep are %v", when, got)
			}
			if got := r.idleFor(time.Minute); slices.Contains(got, "ann") {
				t.Errorf("%s idle are %v", when, got)
			}
		}
		gone("retired")
		told := r.inbox("ben")[before:]
		about := 0
		for _, m := range told {
			if strings.HasPrefix(m.Body, "I have retired ann: long gone. ") {
				about++
			}
		}
		if about != 1 {
			t.Errorf("ben was told %d times: %+v", about, told)
		}
		records := r.records()
		if again, err := r.retire("ann"); err != nil || again.RetiredAt != row.RetiredAt || r.records() != records {
			t.Errorf("again: %+v, %v", again, err)
		}
		require.NoError(t, r.assign(tasks[0], "ben", "ben"))
		r.lockFor("ben", "/b", tasks[0])
		time.Sleep(time.Second)
		require.NoError(t, r.assign(tasks[0], "ben", "ann")) // on purpose; the lock passes with it
		left := r.crash()
		time.Sleep(time.Second)
		r = start(t, left)
		synctest.Wait()
		if b := r.belongings("ann", nil); !slices.Equal(b.Tasks, tasks[:1]) || !slices.Equal(b.Locks, []string{"/b"}) {
			t.Errorf("a task that was given later: %+v", b)
		}
		if again, err := r.retire("ann"); err != nil || again.RetiredAt != row.RetiredAt {
			t.Errorf("once more: %+v, %v", again, err)
		}
		gone("after a restart")
		if m := r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "x"}); m.ID == 0 {
			t.Error("the room is gone")
		}
		r.stop()
	})
}

// TestRetiredReturns: a retired agent is back with its next act, whether it had a session or not. A
// poll is no act. It is back after a restart, too.
func TestRetiredReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		r.ghost()
		r.claim("dan", "other", 7200) // never registers
		time.Sleep(time.Hour)
		for _, agent := range []hub.AgentID{"ann", "dan"} {
			_, err := r.retire(agent)
			require.NoError(t, err)
		}
		if _, err := r.retire("nobody"); codeOf(err) != hub.CodeSessionNotFound {
			t.Errorf("an agent that nobody knows: %v", err)
		}
		back := func(agents int) {
			t.Helper()
			if got := len(r.view.Retired.All()); got != 2-agents {
				t.Errorf("%d agents are retired, and %d should be back", got, agents)
			}
		}
		left := r.crash()
		r = start(t, left)
		r.Touch("ann", true)
		back(0)
		r.Touch("ann", false)
		back(1)
		if _, lives := r.live("ann"); !lives {
			t.Error("its session is not back")
		}
		r.Touch("dan", false)
		back(2)
		left = r.crash()
		r = start(t, left)
		back(2)
		if row, err := r.view.AgentRow("dan"); row != nil || err != nil {
			t.Errorf("an agent that never registered has the row %+v, %v", row, err)
		}
		r.stop()
	})
}

// TestRetireSurvivesCrashAtEveryStep: wherever the hub dies, the agent has all that it had, or it is
// retired and has nothing after the next start.
func TestRetireSurvivesCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 7; nth++ {
			t.Run(fmt.Sprint(step, nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashRetire(t, step, nth) })
			})
		}
	}
}

func crashRetire(t *testing.T, step engine.Step, nth int) {
	crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
	r := start(t, crash.store, crash.option)
	r.ghost()
	time.Sleep(time.Hour)
	before := r.has()
	crash.arm()
	_, err := r.retire("ann")
	require.NoError(t, err)
	again := start(t, crash.over())
	synctest.Wait()
	want := "0 0 0 0 0 false"
	if again.view.Retired.Since("ann") == 0 {
		want = before
	}
	if got := again.has(); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	again.stop()
	r.stop()
}
