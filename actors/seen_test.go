package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// polls is one read of an agent and how many messages are unread after it.
type polls struct {
	name   string
	read   func(ctx context.Context, r *rig) error
	room   hub.RoomID
	unread int
}

func reads(change func(*hub.EventsQuery)) func(context.Context, *rig) error {
	return func(ctx context.Context, r *rig) error {
		q := hub.EventsQuery{Agent: "ann", Limit: 1}
		change(&q)
		_, err := r.Events(ctx, q)
		return err
	}
}

// replies answers a message with a public one.
func replies(from hub.AgentID, to hub.MessageID) func(context.Context, *rig) error {
	return func(ctx context.Context, r *rig) error {
		_, err := r.tryPost(ctx, hub.PostInput{FromAgent: from, Channel: hub.DefaultChannel, Body: "so be it", ReplyTo: to})
		return err
	}
}

// TestUnreadCountsFromTheCursors posts 1 public in general, 2 direct, 3 public in
// ops, 4 ann's own, 5 direct, 6 to another, and looks what is unread after each
// way of reading. The ring holds all, and then nothing.
func TestUnreadCountsFromTheCursors(t *testing.T) {
	for _, ring := range []int{1 << 20, 1} {
		for _, c := range []polls{
			{"nothing was read", reads(func(*hub.EventsQuery) {}), "", 4},
			{"all of it", reads(func(q *hub.EventsQuery) { q.Since = 6 }), "", 0},
			{"all up to 2", reads(func(q *hub.EventsQuery) { q.Since = 2 }), "", 2},
			{"beyond the head", reads(func(q *hub.EventsQuery) { q.Since = hub.MaxMessageID }), "", 0},
			{"one channel and the inbox", reads(func(q *hub.EventsQuery) { q.Since, q.Channels = 4, []hub.ChannelName{"ops"} }), "", 2},
			{"two channels", reads(func(q *hub.EventsQuery) { q.Since, q.Channels = 6, []hub.ChannelName{"ops", "general"} }), "", 0},
			{"a thread only", reads(func(q *hub.EventsQuery) { q.Since, q.ThreadID = 6, "t" }), "", 4},
			{"a peek", reads(func(q *hub.EventsQuery) { q.Since, q.Peek = 6, true }), "", 4},
			{"a watch", reads(func(q *hub.EventsQuery) { q.Since, q.Agent = 6, "ann.watch" }), "", 4},
			{"another", reads(func(q *hub.EventsQuery) { q.Since, q.Agent = 6, "ben" }), "", 4},
			{"the operator", func(ctx context.Context, r *rig) error {
				return reads(func(q *hub.EventsQuery) { q.Since = 6 })(asOperator(ctx), r)
			}, "", 4},
			{"the inbox", func(ctx context.Context, r *rig) error {
				_, err := r.Inbox(ctx, hub.InboxQuery{Agent: "ann", Since: 3, Limit: 1})
				return err
			}, "", 3},
			{"a peek at the inbox", func(ctx context.Context, r *rig) error {
				_, err := r.Inbox(ctx, hub.InboxQuery{Agent: "ann", Since: 6, Limit: 1, Peek: true})
				return err
			}, "", 4},
			{"bootstrap", func(ctx context.Context, r *rig) error {
				_, err := r.Bootstrap(ctx, "ann")
				return err
			}, "", 0},
			{"a reply to one of two", replies("ann", 5), "", 3},
			{"a reply to one of two, in a room", replies("ann", 5), "the room", 2},
			{"a public reply", replies("ann", 3), "", 3},
			{"replies to all", func(ctx context.Context, r *rig) error {
				return errors.Join(replies("ann", 5)(ctx, r), replies("ann", 1)(ctx, r), replies("ann", 2)(ctx, r), replies("ann", 3)(ctx, r), replies("ann", 5)(ctx, r))
			}, "", 0},
			{"a reply of another", replies("ben", 3), "", 5}, // which is itself unread
			{"a reply of the operator in her name", func(ctx context.Context, r *rig) error {
				return replies("ann", 5)(asOperator(ctx), r)
			}, "", 4},
			{"a reply to what she must not see", func(ctx context.Context, r *rig) error {
				if err := replies("ann", 6)(ctx, r); !errors.Is(err, &hub.Error{Code: hub.CodeReplyNotFound}) {
					return fmt.Errorf("answered: %w", err)
				}
				return nil
			}, "", 4},
			{"a room has its channel and the inbox", reads(func(*hub.EventsQuery) {}), "the room", 3},
		} {
			t.Run(fmt.Sprintf("%s, ring of %d", c.name, ring), func(t *testing.T) {
				r := start(t, newMemStore(), ringOf(ring))
				r.channel("ops")
				project, err := r.CreateProject(context.Background(), hub.ProjectInput{Name: "p"})
				require.NoError(t, err)
				room, err := r.CreateRoom(context.Background(), hub.RoomInput{Project: string(project.Row.ProjectID), Name: "ops"})
				require.NoError(t, err)
				r.say("ben", hub.DefaultChannel, "1")
				r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "2"})
				ops := hub.ChannelName("ops")
				if c.room != "" {
					c.room, ops = room.Row.RoomID, room.Row.Channel
				}
				r.say("ben", ops, "3")
				r.say("ann", ops, "4")
				r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "5"})
				r.post(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "6"})
				require.NoError(t, c.read(context.Background(), r))
				if n, err := r.view.Unread("ann", c.room); n != c.unread || err != nil {
					t.Errorf("%d unread, want %d, %v", n, c.unread, err)
				}
			})
		}
	}
}

// TestAnsweredAsksNothingMore: what an agent has replied to without a poll is shown to
// it by no hook and no watch, and keeps it from being idle no more; what lies before is
// as unread as it was. That survives a stop.
func TestAnsweredAsksNothingMore(t *testing.T) {
	store := newMemStore()
	r := start(t, store)
	r.register("ann")
	first := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "first"})
	asked := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "asked"})
	if m, err := r.view.UnreadRequest("ann", r.view.Tasks.Concerning("ann")); err != nil || m == nil {
		t.Fatalf("before the answer no request waits: %v", err)
	}
	r.post(hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "shall it be blue?", ReplyTo: asked.ID})
	look := func(r *rig) {
		t.Helper()
		a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
		if err != nil || a.Unread != 1 || len(a.Directed) != 1 || a.Directed[0].ID != first.ID {
			t.Errorf("after the answer %d are unread, %+v, %v", a.Unread, a.Directed, err)
		}
		if m, err := r.view.UnreadRequest("ann", r.view.Tasks.Concerning("ann")); err != nil || m != nil {
			t.Errorf("after the answer a request waits: %+v, %v", m, err)
		}
	}
	look(r)
	r.stop()
	look(start(t, store))
}

// TestUnreadLeavesOutWakeNotices: what only wakes is not news.
func TestUnreadLeavesOutWakeNotices(t *testing.T) {
	r := start(t, newMemStore())
	parent := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "parent"})
	child := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "child", ParentTaskID: parent.ID})
	if _, err := r.CompleteTask(context.Background(), child.ID, hub.CompleteInput{AgentID: "ben"}); err != nil {
		t.Fatal(err)
	}
	if head := r.view.Ring.Visible(); head <= child.ID {
		t.Fatal("the rollup posted no notice")
	}
	if n, err := r.view.Unread("ann", ""); n != 0 || err != nil {
		t.Errorf("%d unread, %v", n, err)
	}
}

// TestUnreadIsCapped, also where the ring does not reach.
func TestUnreadIsCapped(t *testing.T) {
	for _, ring := range []int{16 << 20, 1} {
		r := start(t, newMemStore(), ringOf(ring))
		for range hub.MaxUnread + 5 {
			r.say("ben", hub.DefaultChannel, "x")
		}
		if n, err := r.view.Unread("ann", ""); n != hub.MaxUnread || err != nil {
			t.Errorf("%d unread, %v", n, err)
		}
	}
}

// lazily is more than it takes until a cursor is stored.
const lazily = 2 * time.Second

// TestToldSurvivesACrash: what an agent was told of is stored before the call is answered,
// so that no hook tells it twice.
func TestToldSurvivesACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		for range 3 {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"})
		}
		tell := func(r *rig, key string, id hub.MessageID) hub.Told {
			told, err := r.Tell(withKey(t.Context(), key, "x"), hub.ToldInput{AgentID: "ann", ToldID: id})
			require.NoError(t, err)
			return told
		}
		tell(r, "first", 1)
		before := tell(r, "second", 2)
		if want := (hub.Told{AgentID: "ann", ToldID: 2, AfterID: 1, Moved: true}); before != want {
			t.Errorf("answered %+v, want %+v", before, want)
		}
		again := start(t, r.crash())
		a, err := again.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
		if err != nil || a.ToldID != 2 {
			t.Errorf("after the crash ann was told up to %d, %v", a.ToldID, err)
		}
		// Nobody has proved that the agent was given the first, so it may be shown again.
		if got, want := tell(again, "second", 2), (hub.Told{AgentID: "ann", ToldID: 2, Moved: true}); got != want {
			t.Errorf("the repetition is answered %+v, want %+v", got, want)
		}
		if got, want := tell(again, "other", 2), (hub.Told{AgentID: "ann", ToldID: 2, AfterID: 2}); got != want {
			t.Errorf("another call is answered %+v, want %+v", got, want)
		}
		again.stop()
	})
}

// TestWhatIsNotProvedIsTakenBack: when the program of an agent was cut off, what it was told of counts as untold
// from where it is proved that the agent was given it, also after a crash.
func TestWhatIsNotProvedIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		for range 5 {
			r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"})
		}
		tell := func(r *rig, state hub.ToldState, id hub.MessageID) hub.Told {
			told, err := r.Tell(t.Context(), hub.ToldInput{AgentID: "ann", ToldID: id, State: state})
			require.NoError(t, err)
			return told
		}
		told := func(r *rig) (hub.MessageID, hub.MessageID) {
			a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"})
			require.NoError(t, err)
			return a.ToldID, a.SureID
		}
		tell(r, hub.ToldNow, 1)
		tell(r, hub.ToldNow, 3)
		if got, want := tell(r, hub.ToldProved, 2), (hub.Told{AgentID: "ann", ToldID: 3, Moved: true}); got != want {
			t.Errorf("the proof is answered %+v, want %+v", got, want)
		}
		if got := tell(r, hub.ToldProved, 1); got.Moved {
			t.Errorf("an older proof is answered %+v", got)
		}
		tell(r, hub.ToldNow, 4)
		if got := tell(r, hub.ToldLost, 3); got.Moved {
			t.Errorf("the agent was told of more meanwhile, and the hub answers %+v", got)
		}
		time.Sleep(2 * lazily)
		synctest.Wait()
		again := start(t, r.crash())
		if at, sure := told(again); at != 4 || sure != 2 {
			t.Errorf("after a crash told of %d, sure of %d, want 4 and 2", at, sure)
		}
		if got, want := tell(again, hub.ToldLost, hub.MaxMessageID), (hub.Told{AgentID: "ann", ToldID: 2, AfterID: 4, Moved: true}); got != want {
			t.Errorf("what is lost is answered %+v, want %+v", got, want)
		}
		last := start(t, again.crash())
		if at, sure := told(last); at != 2 || sure != 2 {
			t.Errorf("told of %d, sure of %d, want 2 and 2", at, sure)
		}
		if got := tell(last, hub.ToldLost, hub.MaxMessageID); got.Moved {
			t.Errorf("nothing is lost any more, and the hub answers %+v", got)
		}
		if got, want := tell(last, hub.ToldNow, 4), (hub.Told{AgentID: "ann", ToldID: 4, AfterID: 2, Moved: true}); got != want {
			t.Errorf("what is told again is answered %+v, want %+v", got, want)
		}
		last.stop()
	})
}

// TestSeenSurvivesAStop, and a crash once it is stored; before that it takes a
// move back and none forward.
func TestSeenSurvivesAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		for i := range 9 {
			r.say("ben", hub.DefaultChannel, fmt.Sprint(i))
		}
		see := func(r *rig, id hub.MessageID) {
			require.NoError(t, reads(func(q *hub.EventsQuery) { q.Since = id })(context.Background(), r))
		}
		see(r, 3)
		time.Sleep(2 * lazily)
		synctest.Wait()
		see(r, 5)
		again := start(t, r.crash())
		if at := again.view.SeenUpTo("ann", ""); at != 3 {
			t.Errorf("after the crash seen up to %d, want what was stored, 3", at)
		}
		see(again, 7)
		told, err := again.Tell(context.Background(), hub.ToldInput{AgentID: "ann", ToldID: 8})
		if err != nil || !told.Moved {
			t.Fatal(told, err)
		}
		again.stop()
		last := start(t, again.store.restarted())
		if at := last.view.SeenUpTo("ann", ""); at != 7 {
			t.Errorf("after the stop seen up to %d, want 7", at)
		}
		if s := last.view.Seen.Of("ann"); s.Told != 8 {
			t.Errorf("told up to %d, want 8", s.Told)
		}
		last.stop()
	})
}

// TestSeenWaitsForRoom: a full disk is not written to, and what moved meanwhile is
// stored when there is room again.
func TestSeenWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		r.say("ben", hub.DefaultChannel, "1")
		writes := 0
		store.mu.Lock()
		store.full = true
		store.putRows = func([]core.Row) error { writes++; return nil }
		store.mu.Unlock()
		if _, err := r.Bootstrap(context.Background(), "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * lazily)
		synctest.Wait()
		if writes != 0 {
			t.Errorf("%d writes to a full disk", writes)
		}
		store.mu.Lock()
		store.full = false
		store.mu.Unlock()
		time.Sleep(2 * lazily)
		synctest.Wait()
		if _, err := store.Row(core.TableSeen, []byte("ann")); err != nil || writes != 1 {
			t.Errorf("%d writes, %v", writes, err)
		}
		r.stop()
	})
}

// TestTellSpeaksOnce: of two hooks for one event one speaks, and a repeated call
// is the same call.
func TestTellSpeaksOnce(t *testing.T) {
	r := start(t, newMemStore())
	r.say("ben", hub.DefaultChannel, "1")
	r.say("ben", hub.DefaultChannel, "2")
	tell := func(key string, id hub.MessageID) hub.Told {
		ctx := context.Background()
		if key != "" {
			ctx = withKey(ctx, key, "x")
		}
		told, err := r.Tell(ctx, hub.ToldInput{AgentID: "ann", ToldID: id})
		require.NoError(t, err)
		return told
	}
	for i, c := range []struct {
		key   string
		id    hub.MessageID
		at    hub.MessageID
		moved bool
	}{
		{"a", 1, 1, true},
		{"b", 1, 1, false},
		{"a", 1, 1, true},
		{"", 1, 1, false},
		{"b", 99, 2, true},
		{"a", 1, 2, false},
		{"", 2, 2, false},
		{"b", 99, 2, true},
	} {
		if told := tell(c.key, c.id); told.Moved != c.moved || told.ToldID != c.at {
			t.Errorf("%d: %+v, want %+v", i, told, c)
		}
	}
}
