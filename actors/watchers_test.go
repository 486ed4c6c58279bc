package actors

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
)

// TestLaterWatchStays: of two watches of one label the one that began later
// stays, in whatever order their calls come after a break, also when it has just
// ended.
func TestLaterWatchStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ben")
		began := hub.TimeOf(time.Now())
		time.Sleep(10 * time.Second)
		watch := func(at hub.Time) (<-chan result[hub.Watched], context.CancelFunc) {
			q := watchOf(t, room.RoomID, time.Hour, "message-from:ben")
			q.Label, q.Began = "l", at
			ctx, leave := context.WithCancel(context.Background())
			answer := async(func() (hub.Watched, error) { return r.Watch(ctx, q) })
			synctest.Wait()
			return answer, leave
		}
		refused := func(what string, answer <-chan result[hub.Watched]) {
			t.Helper()
			select {
			case got := <-answer:
				wantCode(t, got.err, hub.CodeWatchReplaced)
			default:
				t.Errorf("%s waits", what)
			}
		}
		waits := func(what string, answer <-chan result[hub.Watched]) {
			t.Helper()
			select {
			case got := <-answer:
				t.Errorf("%s was answered %+v, %v", what, got.v, got.err)
			default:
			}
		}
		later, leave := watch(began + 5_000)
		older, _ := watch(began)
		refused("the older one", older)
		waits("the later one", later)
		leave() // its connection breaks
		<-later
		older, _ = watch(began)
		refused("the older one, which comes back first,", older)
		later, leave = watch(began + 5_000)
		waits("the later one, which comes back,", later)
		again, leaveAgain := watch(began + 5_000)
		refused("what the same watch has left behind", later)
		waits("the same watch", again)
		leave()
		unsaid, leaveUnsaid := watch(0)
		refused("the one before", again)
		waits("one that does not say when it began", unsaid)
		leaveAgain()
		ahead, leaveAhead := watch(began + 1<<40)
		refused("the one before", unsaid)
		leaveUnsaid()
		time.Sleep(time.Second)
		now, leaveNow := watch(hub.TimeOf(time.Now()))
		refused("one that says it begins in the future", ahead)
		leaveAhead()
		leaveNow()
		<-now
		time.Sleep(11 * time.Minute)
		older, leave = watch(began)
		waits("an older one, after all is forgotten,", older)
		leave()
		r.stop()
	})
}

// TestWatchOfSlices: a watch that is many calls has one session.
func TestWatchOfSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ben")
		q := watchOf(t, room.RoomID, 20*time.Second, "message-from:ben")
		var first hub.SessionID
		for i := range 10 {
			answer := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
			synctest.Wait()
			row, _, live := r.view.Directory.Session("ann.watch")
			if i == 0 {
				first = row.SessionID
			}
			if !live || row.SessionID != first {
				t.Fatalf("slice %d has the session %q, live %v; the first had %q", i, row.SessionID, live, first)
			}
			<-answer
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if _, _, live := r.view.Directory.Session("ann.watch"); live {
			t.Error("the session stays when nothing waits any more")
		}
		r.stop()
	})
}

// TestNinthWatch: the refusal says what is too many, and how to do with less.
func TestNinthWatch(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ben")
	q := watchOf(t, room.RoomID, time.Hour, "message-from:ben")
	for i := range hub.MaxParkedPerAgent {
		q.Label = fmt.Sprint(i)
		r.parked(q)
	}
	q.Label = "one more"
	_, err := r.Watch(context.Background(), q)
	wantCode(t, err, hub.CodeTooManyPolls)
	if want := fmt.Sprintf("agent ann already has %d watches waiting", hub.MaxParkedPerAgent); err == nil || err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
}

// TestWatchShowsWhatIsDirected: what asks something of the agent is shown
// whatever it waits for.
func TestWatchShowsWhatIsDirected(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ben")
	r.say("cleo", room.Channel, "to nobody")
	direct := r.post(hub.PostInput{FromAgent: "cleo", ToAgent: "ann", Body: "for you"})
	named := r.say("cleo", room.Channel, "look, @ann")
	r.post(hub.PostInput{FromAgent: "cleo", ToAgent: "ben", Body: "for another"})
	got := r.look(watchOf(t, room.RoomID, 0, "message-from:ben"))
	if got.Met || len(got.Messages) != 2 || got.Messages[0].ID != direct.ID || got.Messages[1].ID != named.ID {
		t.Errorf("%+v", got)
	}
}

// TestMessageFromWhoNeverRegistered: an agent that posts need not register;
// only unread messages count.
func TestMessageFromWhoNeverRegistered(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	q := watchOf(t, room.RoomID, time.Minute, "message-from:dan")
	_, err := r.Watch(context.Background(), q)
	wantCode(t, err, hub.CodeSessionNotFound)
	said := r.say("dan", room.Channel, "hello")
	if got := r.look(q); !got.Met || len(got.Messages) != 1 || got.Messages[0].ID != said.ID {
		t.Errorf("%+v", got)
	}
	_, err = r.Watch(context.Background(), watchOf(t, room.RoomID, 0, "seat-idle:dan"))
	wantCode(t, err, hub.CodeSessionNotFound)
	if _, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", Since: said.ID, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	_, err = r.Watch(context.Background(), q)
	wantCode(t, err, hub.CodeSessionNotFound)
}

// TestManyWatchesAtOnce: all agents watch again when a hub comes back, and all of
// them get their sessions, and lose them.
func TestManyWatchesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agents = 300
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ben")
		var answers []<-chan result[hub.Watched]
		for i := range agents {
			q := watchOf(t, room.RoomID, time.Minute, "message-from:ben")
			q.Agent = hub.AgentID(fmt.Sprint("agent", i))
			answers = append(answers, async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) }))
		}
		siblings := func() (n int) {
			for i := range agents {
				if _, _, live := r.view.Directory.Session(hub.AgentID(fmt.Sprint("agent", i)).Watch()); live {
					n++
				}
			}
			return n
		}
		time.Sleep(time.Second)
		if n := siblings(); n != agents {
			t.Errorf("%d of %d who watch have a session", n, agents)
		}
		r.say("ben", room.Channel, "x")
		for _, c := range answers {
			if got := <-c; got.err != nil || !got.v.Met {
				t.Errorf("%+v, %v", got.v, got.err)
			}
		}
		time.Sleep(time.Minute)
		if n := siblings(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		r.stop()
	})
}

// TestWatchIsMetInABusyHub: that others post without a pause keeps nobody from
// being answered, however long the look takes.
func TestWatchIsMetInABusyHub(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	conditions := []string{"message-from:cleo"}
	for i := range hub.MaxWatchConditions - 1 {
		agent := hub.AgentID(fmt.Sprint("gone", i))
		closed, err := r.CloseSession(context.Background(), r.register(agent).SessionID, "")
		if err != nil || !closed.Row.Deleted {
			t.Fatal(closed, err)
		}
		conditions = append(conditions, "seat-idle:"+string(agent))
	}
	r.register("cleo")
	answered := make(chan struct{})
	var posters sync.WaitGroup
	for range 4 {
		posters.Go(func() {
			for {
				select {
				case <-answered:
					return
				default:
					_, _ = r.tryPost(context.Background(), hub.PostInput{FromAgent: "cleo", Channel: room.Channel, Body: "x"})
				}
			}
		})
	}
	for range 50 {
		q := watchOf(t, room.RoomID, 0, conditions...)
		if got := within(t, async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })); got.err != nil {
			t.Fatalf("%+v, %v", got.v, got.err)
		}
	}
	close(answered)
	posters.Wait()
}

// TestNothingIsShownDuringALook: conditions that are met are looked at again on
// one state.
func TestNothingIsShownDuringALook(t *testing.T) {
	r := start(t, newMemStore())
	r.view.Still.RLock()
	head := r.view.Ring.Visible()
	posted := async(func() (hub.Message, error) {
		return r.tryPost(context.Background(), hub.PostInput{FromAgent: "ann", Channel: hub.DefaultChannel, Body: "x"})
	})
	for r.view.Still.TryRLock() { // until the writer waits for its turn
		r.view.Still.RUnlock()
		runtime.Gosched()
		if len(posted) != 0 {
			t.Fatal("a record is shown while conditions are looked at")
		}
	}
	if now := r.view.Ring.Visible(); now != head {
		t.Errorf("message %d is visible", now)
	}
	r.view.Still.RUnlock()
	if got := <-posted; got.err != nil || r.view.Ring.Visible() != got.v.ID {
		t.Errorf("%+v", got)
	}
}
