package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestForMe: each kind of message that needs the agent fulfills for-me until it is seen,
// and no other message does.
func TestForMe(t *testing.T) {
	type step func(r *rig, room hub.Room, asked hub.MessageID)
	for name, c := range map[string]struct {
		do   step
		want bool
	}{
		"a direct message": {func(r *rig, _ hub.Room, _ hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"})
		}, true},
		"a mention": {func(r *rig, room hub.Room, _ hub.MessageID) { r.say("ben", room.Channel, "look, @ann") }, true},
		"a reply in the room": {func(r *rig, room hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, ReplyTo: asked, Body: "x"})
		}, true},
		"a result of a task that the agent posted": {func(r *rig, _ hub.Room, asked hub.MessageID) {
			if _, err := r.CompleteTask(context.Background(), asked, hub.CompleteInput{AgentID: "ben", Note: "done"}); err != nil {
				r.t.Fatal(err)
			}
		}, true},
		"a request": {func(r *rig, _ hub.Room, _ hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "x"})
		}, true},
		"an offer": {func(r *rig, _ hub.Room, asked hub.MessageID) {
			if _, err := r.HandoffTask(context.Background(), asked, hub.HandoffInput{AgentID: "ben", ToAgent: "ann"}); err != nil {
				r.t.Fatal(err)
			}
		}, true},
		"an assignment": {func(r *rig, room hub.Room, _ hub.MessageID) {
			id, ann := r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "t"}), hub.AgentID("ann")
			if _, err := r.UpdateTask(context.Background(), id, hub.TaskUpdateInput{AgentID: "ben", Assignee: &ann}); err != nil {
				r.t.Fatal(err)
			}
		}, true},
		"what the operator says to all": {func(r *rig, room hub.Room, _ hub.MessageID) { r.say(hub.AgentOperator, room.Channel, "hello all") }, true},
		"a message to all":              {func(r *rig, room hub.Room, _ hub.MessageID) { r.say("ben", room.Channel, "hello all") }, false},
		"a name that only begins so":    {func(r *rig, room hub.Room, _ hub.MessageID) { r.say("ben", room.Channel, "@annette") }, false},
		"a mention in another channel":  {func(r *rig, _ hub.Room, _ hub.MessageID) { r.say("ben", hub.DefaultChannel, "@ann") }, false},
		"a direct message to another": {func(r *rig, _ hub.Room, _ hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "@ann"})
		}, false},
		"a reply to another": {func(r *rig, room hub.Room, _ hub.MessageID) {
			other := r.say("cleo", room.Channel, "x")
			r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, ReplyTo: other.ID, Body: "x"})
		}, false},
		"a message of its own": {func(r *rig, room hub.Room, _ hub.MessageID) { r.say("ann", room.Channel, "I am @ann") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				room := r.makeRoom("ops")
				r.register("ann")
				r.register("ben")
				asked := r.task(hub.PostInput{FromAgent: "ann", Channel: room.Channel, Body: "who can?"})
				answer := async(func() (hub.Watched, error) {
					return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "for-me"))
				})
				synctest.Wait()
				c.do(r, room, asked)
				synctest.Wait()
				select {
				case got := <-answer:
					if !c.want || got.err != nil || !got.v.Met || len(got.v.Messages) != 1 || got.v.HeadID < got.v.Messages[0].ID {
						t.Errorf("answered %+v, %v", got.v, got.err)
					}
				default:
					if c.want {
						t.Error("the watch still waits")
					}
				}
				if _, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", Since: hub.MaxMessageID, Limit: 1}); err != nil {
					t.Fatal(err)
				}
				if got := r.look(watchOf(t, room.RoomID, 0, "for-me")); got.Met {
					t.Errorf("seen, and still %+v", got.Conditions)
				}
				r.stop()
			})
		})
	}
}

// An agent in no room waits for direct messages and mentions anywhere, and for nothing else. It gets no seat
// by that, and the wake notice is a direct message.
func TestForMeWithoutRoom(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *rig, room hub.Room)
		want bool
	}{
		"a direct message":             {func(r *rig, _ hub.Room) { r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"}) }, true},
		"a mention in a room":          {func(r *rig, room hub.Room) { r.say("ben", room.Channel, "look, @ann") }, true},
		"a mention in a channel":       {func(r *rig, _ hub.Room) { r.say("ben", hub.DefaultChannel, "@ann") }, true},
		"a message to a room":          {func(r *rig, room hub.Room) { r.say("ben", room.Channel, "hello all") }, false},
		"what the operator says there": {func(r *rig, room hub.Room) { r.say(hub.AgentOperator, room.Channel, "hello all") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				room := r.makeRoom("ops")
				r.register("ann")
				r.register("ben")
				woken := r.parked(watchOf(t, "", time.Minute, "for-me"))
				c.do(r, room)
				got := <-woken
				if got.err != nil || got.v.Met != c.want || got.v.RoomID != "" || c.want && len(got.v.Messages) != 1 {
					t.Fatalf("%+v", got)
				}
				if _, err := r.view.SeatOf(room.RoomID, "ann"); !errors.Is(err, core.ErrNotFound) {
					t.Errorf("the watch took a seat: %v", err)
				}
				page, err := r.Inbox(t.Context(), hub.InboxQuery{Agent: "ann", Limit: 10})
				if err != nil || strings.Contains(fmt.Sprintf("%s", page.Rows), "Your watch is met") != c.want {
					t.Errorf("the inbox is %s, %v", page.Rows, err)
				}
			})
		})
	}
}

// TestForMeBeginsWithTheAgent: what was posted to all before the agent registered first
// is not for it, also after a restart; what was sent to it alone is.
func TestForMeBeginsWithTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		room := r.makeRoom("ops")
		r.register("ben")
		r.say("ben", room.Channel, "@ann is the name of the next agent")
		time.Sleep(time.Second)
		r.register("ann")
		r.register("ann") // a later session does not begin anew
		met := func(want bool, what string) {
			t.Helper()
			if got := r.look(watchOf(t, room.RoomID, 0, "for-me")); got.Met != want || (len(got.Messages) > 0) != want {
				t.Errorf("%s: %+v", what, got)
			}
		}
		met(false, "of an old mention")
		r.say("ben", room.Channel, "now, @ann")
		time.Sleep(time.Second)
		r.register("ann")
		met(true, "of a new mention")
		r.stop()
		r = start(t, store)
		met(true, "of a new mention, after a restart")
		if got := r.look(watchOf(t, room.RoomID, 0, "for-me")); len(got.Messages) != 1 {
			t.Errorf("after a restart it shows %+v", got.Messages)
		}
		r.post(hub.PostInput{FromAgent: "ben", ToAgent: "dan", Body: "a briefing"})
		r.register("dan")
		q := watchOf(t, room.RoomID, 0, "for-me")
		q.Agent = "dan"
		if got := r.look(q); !got.Met {
			t.Error("a briefing before the agent registered is lost")
		}
		r.stop()
	})
}

// TestTaskReady: the watch wakes with a task that the agent could take now, and with no
// other.
func TestTaskReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ann")
		r.register("ben")
		ready := func() string {
			t.Helper()
			got := r.look(watchOf(t, room.RoomID, 0, "task-ready"))
			if !got.Met {
				return ""
			}
			return got.Conditions[0].Why
		}
		change := func(id hub.TaskID, in hub.TaskUpdateInput) {
			t.Helper()
			in.AgentID = "ben"
			if _, err := r.UpdateTask(context.Background(), id, in); err != nil {
				t.Fatal(err)
			}
		}
		task := func(in hub.PostInput) hub.TaskID {
			in.FromAgent, in.Body = "ben", "t"
			if in.ToAgent == "" {
				in.Channel = room.Channel
			}
			return r.task(in)
		}
		r.task(hub.PostInput{FromAgent: "ben", Channel: hub.DefaultChannel, Body: "elsewhere"})
		first, second, third := task(hub.PostInput{}), task(hub.PostInput{}), task(hub.PostInput{})
		ben, nobody := hub.AgentID("ben"), hub.AgentID("")
		change(first, hub.TaskUpdateInput{Assignee: &ben})
		change(second, hub.TaskUpdateInput{BlockedBy: &[]hub.TaskID{first}})
		change(third, hub.TaskUpdateInput{BlockedBy: &[]hub.TaskID{second}})
		if why := ready(); why != "" {
			t.Errorf("one task is taken and two are blocked: %q", why)
		}
		wait := func() <-chan result[hub.Watched] {
			answer := async(func() (hub.Watched, error) {
				return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "task-ready:"+string(room.RoomID)))
			})
			synctest.Wait()
			return answer
		}
		answer := wait()
		r.endTask(first, hub.TaskDone)
		if got := within(t, answer); got.err != nil || !got.v.Met || got.v.Conditions[0].Why != fmt.Sprintf("task %d is ready for you", second) {
			t.Errorf("with the end of what it waits for: %+v, %v", got.v, got.err)
		}
		r.endTask(second, hub.TaskFailed)
		if why := ready(); why != "" {
			t.Errorf("a task whose blocker has failed: %q", why)
		}
		answer = wait()
		change(third, hub.TaskUpdateInput{BlockedBy: &[]hub.TaskID{}})
		if got := within(t, answer); got.err != nil || !got.v.Met {
			t.Errorf("no longer blocked: %+v, %v", got.v, got.err)
		}
		change(third, hub.TaskUpdateInput{Assignee: &ben})
		answer = wait()
		change(third, hub.TaskUpdateInput{Assignee: &nobody})
		if got := within(t, answer); got.err != nil || !got.v.Met {
			t.Errorf("given back: %+v, %v", got.v, got.err)
		}
		r.endTask(third, hub.TaskDone)
		task(hub.PostInput{ToAgent: "cleo"})
		if why := ready(); why != "" {
			t.Errorf("a task for another: %q", why)
		}
		r.stop()
	})
}

// TestAnswered: a watch wakes with the first reply of another agent that the asker may
// see, wherever it is, and with the end of the task.
func TestAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		ask    func(r *rig, room hub.Room) hub.MessageID
		answer func(r *rig, room hub.Room, asked hub.MessageID)
		want   string // empty: no answer
	}{
		"in the room": {askRoom, func(r *rig, room hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, ReplyTo: asked, Body: "x"})
		}, "answers message"},
		"to the asker alone": {askRoom, func(r *rig, _ hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", ReplyTo: asked, Body: "x"})
		}, "answers message"},
		"in the channel of the question": {func(r *rig, _ hub.Room) hub.MessageID {
			return r.say("ann", hub.DefaultChannel, "who?").ID
		}, func(r *rig, _ hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", Channel: hub.DefaultChannel, ReplyTo: asked, Body: "x"})
		}, "answers message"},
		"with an attachment": {askRoom, func(r *rig, room hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", Channel: room.Channel, ReplyTo: asked, Body: "x", Attachments: []hub.Attachment{{Type: "x", Path: "a"}}})
		}, "answers message"},
		"by a result": {askBen, func(r *rig, _ hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskResult, ReplyTo: asked, Body: "x"})
		}, "answers message"},
		"by the end of its task": {askBen, func(r *rig, _ hub.Room, asked hub.MessageID) {
			if _, err := r.CompleteTask(context.Background(), asked, hub.CompleteInput{AgentID: "ben"}); err != nil {
				r.t.Fatal(err)
			}
		}, "is done"},
		"another message": {askRoom, func(r *rig, room hub.Room, _ hub.MessageID) { r.say("ben", room.Channel, "x") }, ""},
		"its own reply": {askRoom, func(r *rig, room hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ann", Channel: room.Channel, ReplyTo: asked, Body: "still?"})
		}, ""},
		"a reply to another agent alone": {askRoom, func(r *rig, _ hub.Room, asked hub.MessageID) {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", ReplyTo: asked, Body: "x"})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				room := r.makeRoom("ops")
				r.register("ann")
				r.register("ben")
				asked := c.ask(r, room)
				q := watchOf(t, room.RoomID, time.Hour, fmt.Sprintf("answered:%d", asked))
				answer := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
				synctest.Wait()
				c.answer(r, room, asked)
				synctest.Wait()
				select {
				case got := <-answer:
					if c.want == "" || got.err != nil || !got.v.Met || !strings.Contains(got.v.Conditions[0].Why, c.want) {
						t.Errorf("answered %+v, %v", got.v, got.err)
					}
				default:
					if c.want != "" {
						t.Error("the watch still waits")
					}
				}
				if _, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", Since: hub.MaxMessageID, Limit: 1}); err != nil {
					t.Fatal(err)
				}
				if q.Wait = 0; r.look(q).Met != (c.want != "") {
					t.Error("what the agent has read changes whether it has an answer")
				}
				r.stop()
			})
		})
	}
}

func askRoom(r *rig, room hub.Room) hub.MessageID { return r.say("ann", room.Channel, "who?").ID }

func askBen(r *rig, _ hub.Room) hub.MessageID {
	return r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Kind: hub.KindTaskRequest, Body: "please"}).ID
}

// TestWatchAfter: messages that were shown do not count again, and a stream wakes with
// one of its conditions and leaves no wake notice.
func TestWatchAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ann")
		r.register("ben")
		shown := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "shown"})
		q := watchOf(t, room.RoomID, time.Hour, "for-me", "message-from:operator")
		q.Stream, q.After = true, shown.ID
		answer := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
		synctest.Wait()
		r.say("ben", room.Channel, "to all")
		synctest.Wait()
		for range 7 {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "next"})
		}
		got := within(t, answer)
		if got.err != nil || !got.v.Met || got.v.Messages[0].ID <= shown.ID {
			t.Errorf("%+v, %v", got.v, got.err)
		}
		synctest.Wait()
		q.Wait = 0
		all := r.look(q)
		if !all.Met || len(all.Messages) != 5 || all.More != 2 || all.HeadID != r.view.Ring.Visible() || all.Unread != 9 {
			t.Errorf("at once: %+v", all)
		}
		if q.After = all.HeadID; r.look(q).Met {
			t.Error("what was shown counts again")
		}
		inbox, err := r.Inbox(context.Background(), hub.InboxQuery{Agent: "ann", Limit: 20})
		require.NoError(t, err)
		if len(inbox.Rows) != 8 {
			t.Errorf("the inbox has %d messages: a stream leaves no wake notice", len(inbox.Rows))
		}
		r.stop()
	})
}

// TestSeatIdleOfASleeper: an agent that has started a watch and makes no call is idle
// five seconds later, however short ago its last call was; beside a stream it works on.
func TestSeatIdleOfASleeper(t *testing.T) {
	const working, idle = hub.SeatWorkingFor, hub.SeatIdleAfter
	for name, c := range map[string]struct {
		stream bool
		then   func(r *rig)
		want   time.Duration
	}{
		"asleep":                   {false, func(*rig) {}, idle},
		"it works on":              {false, func(r *rig) { time.Sleep(time.Second); r.Touch("ben", false) }, working + idle},
		"beside a stream":          {true, func(*rig) {}, working + idle - time.Second},
		"asleep with a task of it": {false, func(r *rig) { r.working("ben", 100*time.Second) }, 100*time.Second + idle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, room := idleRig(t)
				r.Touch("ben", false)
				time.Sleep(time.Second)
				q := watchOf(t, room.RoomID, 20*time.Minute, "for-me")
				q.Agent, q.Stream = "ben", c.stream
				go func() { _, _ = r.Watch(context.Background(), q) }()
				synctest.Wait()
				c.then(r)
				if got := r.idleAfter(room); got != c.want {
					t.Errorf("met after %s, want %s", got, c.want)
				}
				r.stop()
			})
		})
	}
}
