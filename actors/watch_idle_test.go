package actors

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
)

// idleRig is a hub with a room, an agent ann who watches, and ben.
func idleRig(t *testing.T) (*rig, hub.Room) {
	t.Helper()
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ann")
	r.register("ben")
	return r, room
}

// idleAfter returns how long a watch for ben to be idle waits until it is met,
// or -1 if it ends unmet.
func (r *rig) idleAfter(room hub.Room) time.Duration {
	r.t.Helper()
	began := time.Now()
	got := r.look(watchOf(r.t, room.RoomID, 20*time.Minute, "seat-idle:ben"))
	if !got.Met {
		return -1
	}
	return time.Since(began)
}

// TestSeatIdleByTime: calls keep an agent working for a minute, then it must be
// idle for five seconds; one timer finds the instant.
func TestSeatIdleByTime(t *testing.T) {
	const working, idle = hub.SeatWorkingFor, hub.SeatIdleAfter
	for name, c := range map[string]struct {
		before func(r *rig, room hub.Room)
		want   time.Duration
	}{
		"just registered": {func(*rig, hub.Room) {}, working + idle},
		"a call 10 s ago": {func(r *rig, _ hub.Room) {
			time.Sleep(5 * time.Second)
			r.Touch("ben", false)
			time.Sleep(10 * time.Second)
		}, working + idle - 10*time.Second},
		"polls are no work": {func(r *rig, _ hub.Room) {
			time.Sleep(working + idle)
			r.Touch("ben", true)
		}, 0},
		"waiting since now": {func(r *rig, room hub.Room) {
			go func() {
				_, _ = r.Events(context.Background(), hub.EventsQuery{Agent: "ben", RoomID: room.RoomID, Since: hub.MaxMessageID, Limit: 1, Wait: time.Minute})
			}()
			synctest.Wait()
		}, idle},
		"a task at work ends after 100 s": {func(r *rig, _ hub.Room) {
			r.working("ben", 100*time.Second)
		}, 100*time.Second + idle},
		"a request is unread for 90 s": {func(r *rig, _ hub.Room) {
			request := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "x"})
			go func() {
				time.Sleep(90 * time.Second)
				_, _ = r.Events(context.Background(), hub.EventsQuery{Agent: "ben", Since: request.ID, Limit: 1})
			}()
		}, 90 * time.Second},
		"a request is cancelled after 80 s": {func(r *rig, _ hub.Room) {
			request := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "x"})
			go func() {
				time.Sleep(80 * time.Second)
				r.endTask(request.ID, hub.TaskCancelled)
			}()
		}, 80 * time.Second},
		"needs input until it is cancelled after 70 s": {func(r *rig, _ hub.Room) {
			id := r.working("ben", 70*time.Second)
			status := hub.TaskInputRequired
			if _, err := r.UpdateTask(context.Background(), id, hub.TaskUpdateInput{AgentID: "ben", Status: &status}); err != nil {
				r.t.Fatal(err)
			}
		}, 70*time.Second + idle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, room := idleRig(t)
				c.before(r, room)
				if got := r.idleAfter(room); got != c.want {
					t.Errorf("met after %s, want %s", got, c.want)
				}
				r.stop()
			})
		})
	}
}

// working gives agent a working task, which is canceled after ends.
func (r *rig) working(agent hub.AgentID, ends time.Duration) hub.TaskID {
	r.t.Helper()
	id := r.task(hub.PostInput{FromAgent: "ann", Body: "work"})
	status := hub.TaskWorking
	if _, err := r.UpdateTask(context.Background(), id, hub.TaskUpdateInput{AgentID: "ann", Status: &status, Assignee: &agent}); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		time.Sleep(ends)
		r.endTask(id, hub.TaskCancelled)
	}()
	return id
}

// TestSeatIdleNamesWhatMayBeSeen: the answer holds the id of an unread request
// only for an agent that may see the request.
func TestSeatIdleNamesWhatMayBeSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, room := idleRig(t)
		time.Sleep(hub.SeatWorkingFor + hub.SeatIdleAfter)
		ask := func(from hub.AgentID) hub.MessageID {
			return r.post(hub.PostInput{FromAgent: from, ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "x"}).ID
		}
		why := func() string {
			return r.look(watchOf(t, room.RoomID, 0, "seat-idle:ben")).Conditions[0].Why
		}
		private := ask("cleo")
		if got := why(); got != "ben has not read a request" {
			t.Errorf("a request of another agent: %q", got)
		}
		q := watchOf(t, room.RoomID, 0, "seat-idle:ben")
		if got, err := r.Watch(asOperator(context.Background()), q); err != nil || got.Conditions[0].Why != fmt.Sprintf("ben has not read the request %d", private) {
			t.Errorf("to the operator: %+v, %v", got, err)
		}
		own := ask("ann")
		if got := why(); got != fmt.Sprintf("ben has not read the request %d", own) {
			t.Errorf("its own request: %q", got)
		}
		r.stop()
	})
}

// TestSeatIdleOfWhoIsGone: the condition holds for a seat without a live
// session, and the answer says so. It does not hold for an agent that keeps
// calling.
func TestSeatIdleOfWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, room := idleRig(t)
		row, _, _ := r.view.Directory.Session("ben")
		go func() {
			for range 30 {
				time.Sleep(20 * time.Second)
				r.Touch("ben", false)
			}
			_, _ = r.CloseSession(asOperator(context.Background()), row.SessionID, "")
		}()
		began := time.Now()
		got := r.look(watchOf(t, room.RoomID, 20*time.Minute, "seat-idle:ben"))
		if !got.Met || time.Since(began) != 600*time.Second || !strings.Contains(got.Conditions[0].Why, "gone") {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		r.stop()
	})
}
