package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// leave ends the session of an agent.
func (r *rig) leave(s hub.Session) {
	r.t.Helper()
	_, err := r.CloseSession(context.Background(), s.SessionID, "")
	require.NoError(r.t, err)
}

// leftNotices returns the notices about tasks that were left: in a room, and to an agent.
func (r *rig) leftNotices(room hub.Room, agent hub.AgentID) (bodies []string) {
	r.t.Helper()
	page, err := r.Messages(context.Background(), hub.MessagesQuery{Channel: room.Channel, Limit: 1000})
	require.NoError(r.t, err)
	for _, m := range append(decodeAll(r.t, page.Rows), r.inbox(agent)...) {
		if m.FromAgent == hub.AgentSystem && strings.Contains(string(m.Metadata), `"left"`) {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

// begin has an agent work on a task.
func (r *rig) begin(id hub.TaskID, agent hub.AgentID) error {
	working := hub.TaskWorking
	_, err := r.UpdateTask(r.t.Context(), id, hub.TaskUpdateInput{AgentID: agent, Status: &working})
	return err
}

// taskIn opens a task of ann's in a room.
func (r *rig) taskIn(room hub.Room, title string) hub.TaskID {
	return r.post(hub.PostInput{FromAgent: "ann", Channel: room.Channel, Kind: hub.KindTask, Body: title}).ID
}

// worker registers ben, who begins a task of ann's in a room.
func (r *rig) worker(room hub.Room) (hub.Session, hub.TaskID) {
	r.t.Helper()
	s := r.register("ben").Session
	id := r.taskIn(room, "paint")
	require.NoError(r.t, r.assign(id, "ben", "ben"))
	require.NoError(r.t, r.begin(id, "ben"))
	return s, id
}

// TestTaskThatIsLeft: a task whose assignee has been gone for two minutes is told of once, in its room,
// to its creator; watches that wait for it end; and another agent takes it over with all that the
// assignee took for it. The one that had it can neither end it nor keep its leases. It holds after a
// restart.
func TestTaskThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "cid")
		ben, id := r.worker(room)
		_, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "ben", TaskMessageID: id, TTLSec: 3600})
		require.NoError(t, err)
		_, err = r.Lock(t.Context(), hub.LockInput{FilePath: "a.go", AgentID: "ben", TTLSec: 3600, Metadata: forTask(id)})
		require.NoError(t, err)
		until := []string{fmt.Sprintf("tasks-complete:%d", id), fmt.Sprintf("answered:%d", id)}
		watched := r.parked(watchOf(t, room.RoomID, time.Hour, until...))

		r.leave(ben)
		time.Sleep(hub.TaskLeftAfter - time.Second)
		synctest.Wait()
		if got := r.leftNotices(room, "ann"); len(got) > 0 {
			t.Errorf("before two minutes are over the room is told %q", got)
		}
		wantCode(t, r.assign(id, "cid", "cid"), hub.CodeTaskTaken)
		time.Sleep(2*presenceTick + time.Second)
		synctest.Wait()
		got := r.leftNotices(room, "ann")
		if len(got) != 1 || !strings.HasPrefix(got[0], `ben, which has task 1 "paint", is gone: its session ended over 2 minutes ago.`) {
			t.Errorf("told is %q", got)
		}
		if w := <-watched; w.err != nil || w.v.Met || !w.v.Stuck || !strings.Contains(w.v.Conditions[0].Why, "task 1 is working, and its assignee is gone (ben, for 2m") {
			t.Errorf("the watch ends with %+v, %v", w.v, w.err)
		}
		ids := r.directedTo("ann", room.RoomID)
		if len(ids) != 1 {
			t.Errorf("of the creator %v ask, want the notice", ids)
		}

		left := r.crash()
		r = start(t, left)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.leftNotices(room, "ann"); len(got) != 1 {
			t.Errorf("after a restart told is %q", got)
		}
		require.NoError(t, r.assign(id, "cid", "cid"))
		synctest.Wait()
		if got := r.holders(id, "a.go"); got != "cid cid" {
			t.Errorf("after the task was taken over the holders are %s", got)
		}
		_, err = r.CompleteTask(t.Context(), id, hub.CompleteInput{AgentID: "ben", Note: "late"})
		wantCode(t, err, hub.CodeTaskTaken)
		_, err = r.tryPost(t.Context(), hub.PostInput{FromAgent: "ben", Channel: room.Channel, Kind: hub.KindTaskResult, ReplyTo: id, Body: "late"})
		wantCode(t, err, hub.CodeTaskTaken)
		if row, err := r.Task(t.Context(), id, "ann"); err != nil || *row.Assignee != "cid" || row.AssigneeGoneSince != nil {
			t.Errorf("the task is %+v, %v", row, err)
		}
		_, err = r.CompleteTask(t.Context(), id, hub.CompleteInput{AgentID: "cid", Note: "done"})
		require.NoError(t, err)
	})
}

// TestTaskOfAnAgentThatComesBack: an agent that is there again keeps its task, and when it leaves
// another time, that is told anew. A task that is given to an agent which is not there is not left.
func TestTaskOfAnAgentThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "cid")
		ben, id := r.worker(room)
		for round := 1; round <= 2; round++ {
			r.leave(ben)
			if round == 1 {
				require.NoError(t, r.assign(r.taskIn(room, "for later"), "ann", "ben"))
			}
			time.Sleep(hub.TaskLeftAfter + 2*presenceTick)
			synctest.Wait()
			if got := r.leftNotices(room, "ann"); len(got) != round || strings.Contains(got[0], "for later") {
				t.Errorf("round %d: told is %q", round, got)
			}
			ben = r.register("ben").Session
			wantCode(t, r.assign(id, "cid", "cid"), hub.CodeTaskTaken)
			time.Sleep(2 * presenceTick)
			synctest.Wait()
			if row, err := r.Task(t.Context(), id, "ann"); err != nil || row.AssigneeGoneSince != nil {
				t.Errorf("round %d: of an agent that is back the task is %+v, %v", round, row, err)
			}
		}
	})
}

// TestLeftTaskIsToldToItsCreator: one that reads in another room gets a notice of its own, and of a
// direct task nobody else learns.
func TestLeftTaskIsToldToItsCreator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("cid")
		ben, _ := r.worker(room)
		r.seat(r.newRoom("elsewhere").RoomID, "ann")
		secret := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "in private"}).ID
		require.NoError(t, r.begin(secret, "ben"))
		r.leave(ben)
		time.Sleep(hub.TaskLeftAfter + 2*presenceTick)
		synctest.Wait()
		in, to := 0, 0
		for _, m := range r.public() {
			if strings.Contains(string(m.Metadata), `"left"`) {
				in++
				if strings.Contains(m.Body, "in private") {
					t.Errorf("all are told %q", m.Body)
				}
			}
		}
		for _, m := range r.inbox("ann") {
			if strings.Contains(string(m.Metadata), `"left"`) {
				to++
			}
		}
		if got := r.leftNotices(room, "ann"); len(got) != 3 || to != 2 {
			t.Errorf("told is %q; %d in public, %d to the creator", got, in, to)
		}
	})
}

// TestAssigneeThatComesAndGoes: an agent that is back for a moment has not gone since before, though no
// tick has seen it: nobody takes its task over, and its next absence is told anew.
func TestAssigneeThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "cid")
		ben, id := r.worker(room)
		r.leave(ben)
		time.Sleep(hub.TaskLeftAfter + 2*presenceTick)
		synctest.Wait()
		time.Sleep(time.Millisecond)
		r.leave(r.register("ben").Session)
		wantCode(t, r.assign(id, "cid", "cid"), hub.CodeTaskTaken)
		time.Sleep(hub.TaskLeftAfter + 2*presenceTick)
		synctest.Wait()
		if got := r.leftNotices(room, "ann"); len(got) != 2 {
			t.Errorf("of two absences told is %q", got)
		}
		require.NoError(t, r.assign(id, "cid", "cid"))
	})
}

// TestWatchOfARunTellsOfNoHiddenTask: a watch of a run is not stuck for a task that its agent may not see.
func TestWatchOfARunTellsOfNoHiddenTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "cid")
		ben := r.register("ben").Session
		run, err := r.CreateRun(t.Context(), hub.RunInput{Title: "release", CreatedBy: "cid", RoomID: room.RoomID, Tasks: []hub.PlannedTask{{Title: "public"}}})
		require.NoError(t, err)
		secret := r.post(hub.PostInput{FromAgent: "cid", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "in private", ParentTaskID: run.Row.Planned[0]}).ID
		require.NoError(t, r.begin(secret, "ben"))
		r.leave(ben)
		time.Sleep(hub.TaskLeftAfter + 2*presenceTick)
		synctest.Wait()
		q := watchOf(t, room.RoomID, 0, "run-complete:"+string(run.Row.RunID))
		if got := r.look(q); got.Stuck || strings.Contains(got.Conditions[0].Why, "ben") {
			t.Errorf("ann is told %+v", got)
		}
		q.Agent = "cid"
		if got := r.look(q); !got.Stuck || !strings.Contains(got.Conditions[0].Why, "its assignee is gone (ben") {
			t.Errorf("cid is told %+v", got)
		}
	})
}
