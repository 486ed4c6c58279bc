package actors

import (
	"context"
	"fmt"
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
		time.Sleep(2*watchesKept + time.Second)
		older, leave = watch(began)
		waits("an older one, after all is forgotten,", older)
		leave()
		r.stop()
	})
}

// TestEndedWatchesAreBounded: however many labels there were, few are remembered.
func TestEndedWatchesAreBounded(t *testing.T) {
	s := newWatches()
	for i := range 10 * watchesKeptMost {
		w := &watch{query: hub.WatchQuery{Agent: "ann", Label: fmt.Sprint(i)}, replaced: make(chan struct{})}
		if err := s.enter(w, 1_000); err != nil {
			t.Fatal(err)
		}
		s.leave(w, 1_000)
	}
	if n := len(s.ended) + len(s.endedBefore); n > 2*watchesKeptMost || n < watchesKeptMost || len(s.waiting) != 0 {
		t.Errorf("%d are remembered, %d wait", n, len(s.waiting))
	}
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
			row, _, live := r.views.directory.session("ann.watch")
			if i == 0 {
				first = row.SessionID
			}
			if !live || row.SessionID != first {
				t.Fatalf("slice %d has the session %q, live %v; the first had %q", i, row.SessionID, live, first)
			}
			<-answer
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * watcherStays)
		if _, _, live := r.views.directory.session("ann.watch"); live {
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

// TestMessageFromWhoNeverRegistered: who posts need not register; what is unread
// counts, and only that.
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
