package actors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// asleepNotices returns the notices in a room that say that an agent is asleep.
func (r *rig) asleepNotices(room hub.Room) (bodies []string) {
	r.t.Helper()
	page, err := r.Messages(context.Background(), hub.MessagesQuery{Channel: room.Channel, Limit: 1000})
	require.NoError(r.t, err)
	for _, m := range decodeAll(r.t, page.Rows) {
		if m.FromAgent == hub.AgentSystem && strings.Contains(string(m.Metadata), `"asleep"`) {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

func (r *rig) asleepAgents() (agents []hub.AgentID) {
	for _, a := range r.Asleep() {
		agents = append(agents, a.AgentID)
	}
	return agents
}

// direct posts a direct message from ben that is about a room.
func (r *rig) direct(to hub.AgentID, room hub.Room) hub.MessageID {
	return r.post(hub.PostInput{FromAgent: "ben", ToAgent: to, Channel: room.Channel, Body: "x"}).ID
}

// TestAsleepIsToldOnce: a room learns after five minutes, and once for each spell, that
// an agent leaves a direct message unread and is not woken. The notice names neither
// the message nor its sender.
func TestAsleepIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "ben")
		told := func(when string, n int, agents ...hub.AgentID) {
			t.Helper()
			synctest.Wait()
			if got := r.asleepNotices(room); len(got) != n {
				t.Errorf("%s: the notices are %q, want %d", when, got, n)
			}
			if got := r.asleepAgents(); !slices.Equal(got, agents) {
				t.Errorf("%s: asleep are %v, want %v", when, got, agents)
			}
		}
		id := r.direct("ann", room)
		time.Sleep(hub.AsleepAfter - time.Millisecond)
		told("just before", 0)
		time.Sleep(2 * time.Millisecond)
		told("after five minutes", 1, "ann")
		if body := r.asleepNotices(room)[0]; !strings.HasPrefix(body, "ann has 1 unread direct message and was not woken for 5 minutes. ") || strings.Contains(body, "ben") {
			t.Errorf("the notice is %q", body)
		}
		r.direct("ann", room)
		time.Sleep(2 * hub.AsleepAfter)
		told("with one more message", 1, "ann")
		if got := r.Asleep()[0]; got.Unread != 2 || *got.RoomID != room.RoomID {
			t.Errorf("the row is %+v", got)
		}

		left := r.crash()
		r = start(t, left)
		time.Sleep(3 * hub.AsleepAfter)
		told("after a restart", 1, "ann")

		_, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", Since: id + 10, Limit: 10})
		require.NoError(t, err)
		told("it has read", 1)
		r.direct("ann", room)
		time.Sleep(hub.AsleepAfter + time.Millisecond)
		told("a second spell", 2, "ann")
	})
}

// TestAwakeIsNotTold: a room is not told of an agent that has seen the message, was told
// of it, has fetched it, has acted since or has a watch that waits, nor of messages that
// ask nothing.
func TestAwakeIsNotTold(t *testing.T) {
	ctx := context.Background()
	for name, does := range map[string]func(r *rig, room hub.Room, id hub.MessageID) error{
		"seen": func(r *rig, _ hub.Room, id hub.MessageID) error {
			_, err := r.Inbox(ctx, hub.InboxQuery{Agent: "ann", Since: id, Limit: 1})
			return err
		},
		"told": func(r *rig, _ hub.Room, id hub.MessageID) error {
			_, err := r.Tell(ctx, hub.ToldInput{AgentID: "ann", ToldID: id})
			return err
		},
		"fetched": func(r *rig, _ hub.Room, _ hub.MessageID) error {
			_, err := r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 10})
			return err
		},
		"answered": func(r *rig, _ hub.Room, id hub.MessageID) error {
			_, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Body: "x", ReplyTo: id})
			return err
		},
		"a call": func(r *rig, _ hub.Room, _ hub.MessageID) error {
			time.Sleep(time.Minute)
			r.Touch("ann", false)
			return nil
		},
		"a watch for something else": func(r *rig, room hub.Room, _ hub.MessageID) error {
			r.register("cleo")
			c, err := hub.ParseCondition("until", "message-from:cleo")
			go func() {
				_, _ = r.Watch(ctx, hub.WatchQuery{Agent: "ann", Room: room.RoomID, Until: []hub.Condition{c}, Wait: hub.AsleepAfter + time.Second})
			}()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				defer r.stop()
				room := r.roomWithSeats("ann", "ben", "cleo")
				began := time.Now()
				require.NoError(t, does(r, room, r.direct("ann", room)))
				time.Sleep(time.Until(began.Add(hub.AsleepAfter + 10*time.Millisecond)))
				synctest.Wait()
				if got := r.asleepNotices(room); len(got) > 0 || len(r.Asleep()) > 0 {
					t.Errorf("the room was told %q", got)
				}
			})
		})
	}
}

// TestAsleepAfterACall: an agent that has acted, left the message unread and then fallen
// silent is asleep five minutes after its call.
func TestAsleepAfterACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.roomWithSeats("ann", "ben")
		r.direct("ann", room)
		time.Sleep(time.Minute)
		r.Touch("ann", false)
		time.Sleep(hub.AsleepAfter + 10*time.Millisecond)
		synctest.Wait()
		if got := r.asleepNotices(room); len(got) != 1 {
			t.Errorf("the notices are %q", got)
		}
	})
}

// TestAsleepOfWhom: agents that have gone are asleep too, and one without a room is listed
// although no room is told. Notices of the system, an agent's messages to itself and the
// mailbox of the operator are left out.
func TestAsleepOfWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.roomWithSeats("ann", "ben")
		r.register("gus")
		r.register("elsewhere")
		r.direct("gus", room)
		r.direct("ben", room)
		r.direct(hub.AgentOperator, room)
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "elsewhere", Body: "x"})
		time.Sleep(hub.AsleepAfter + 10*time.Millisecond)
		synctest.Wait()
		if got, want := r.asleepAgents(), []hub.AgentID{"elsewhere", "gus"}; !slices.Equal(got, want) {
			t.Errorf("asleep are %v, want %v", got, want)
		}
		if got := r.asleepNotices(room); len(got) != 1 || !strings.Contains(got[0], "gus is gone: its session has ended.") {
			t.Errorf("the notices are %q", got)
		}
	})
}

// TestAsleepOfAClosedSession: an agent whose session was closed is listed as such, and is no agent to wake; one whose
// session ended of silence may be idle at its prompt.
func TestAsleepOfAClosedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		closed := r.register("closed")
		r.register("silent")
		for _, to := range []hub.AgentID{"closed", "silent"} {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: to, Body: "x"})
		}
		_, err := r.CloseSession(t.Context(), closed.SessionID, "")
		require.NoError(t, err)
		time.Sleep(hub.AsleepAfter + 10*time.Millisecond)
		synctest.Wait()
		got := map[hub.AgentID]bool{}
		for _, a := range r.Asleep() {
			got[a.AgentID] = a.Closed
		}
		if want := map[hub.AgentID]bool{"closed": true, "silent": false}; !maps.Equal(got, want) {
			t.Errorf("asleep, and whether closed: %v, want %v", got, want)
		}
	})
}

// TestAsleepIsBounded: however many agents get messages, so many are kept and shown.
func TestAsleepIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		for i := range 1_100 {
			id := hub.AgentID(fmt.Sprintf("a%d", i))
			r.register(id)
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: id, Body: "x"})
		}
		time.Sleep(hub.AsleepAfter + time.Second)
		synctest.Wait()
		if n := r.asleep.Len(); n != 1_000 {
			t.Errorf("%d agents are kept", n)
		}
		if n := len(r.Asleep()); n != 100 {
			t.Errorf("%d agents are shown", n)
		}
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "later", Body: "x"})
		time.Sleep(hub.AsleepAfter + time.Second)
		synctest.Wait()
		if n := r.asleep.Len(); n != 1_000 {
			t.Errorf("%d agents are kept", n)
		}
	})
}

// TestNobodyIsAsleep: an id that was written to and that nobody has ever used is no agent that is
// asleep, and no room is told of it. It is one once it has registered and is silent again.
func TestNobodyIsAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ben")
		r.direct("nobody", room)
		time.Sleep(2 * hub.AsleepAfter)
		synctest.Wait()
		if got := r.asleepAgents(); len(got) > 0 || len(r.asleepNotices(room)) > 0 {
			t.Errorf("asleep are %v, notices %v", got, r.asleepNotices(room))
		}
		r.register("nobody")
		time.Sleep(2 * hub.AsleepAfter)
		synctest.Wait()
		if got := r.asleepAgents(); !slices.Equal(got, []hub.AgentID{"nobody"}) {
			t.Errorf("after it called asleep are %v", got)
		}
	})
}
