package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
)

// seatsSettled waits until no seat is due.
func (r *rig) seatsSettled() {
	r.t.Helper()
	require.NoError(r.t, r.seats.Settle(r.engine.Seq.Given(), 20*time.Second))
}

// seatedAs lists the seats of a room in short, by agent; a seat that its agent
// got by acting has an asterisk.
func (r *rig) seatedAs(room hub.RoomID) string {
	r.t.Helper()
	seats, err := r.view.SeatsOf(room)
	require.NoError(r.t, err)
	var out []string
	for _, s := range seats {
		mark := ""
		if s.Acting() {
			mark = "*"
		}
		out = append(out, string(s.AgentID)+mark)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// onPage lists the agents that the page of a room shows.
func (r *rig) onPage(room hub.RoomID, all bool) string {
	r.t.Helper()
	s, err := r.RoomStatus(r.t.Context(), hub.StatusQuery{RoomID: room, All: all})
	require.NoError(r.t, err)
	var out []string
	for i := range s.Seats {
		out = append(out, string(s.Seats[i].AgentID))
	}
	slices.Sort(out)
	return fmt.Sprintf("%s; %d, %d gone", strings.Join(out, " "), s.SeatCount, s.GoneCount)
}

// holdRoom keeps the owner of a room busy until the function that it returns is called.
func (r *rig) holdRoom(room hub.RoomID) (free func()) {
	r.t.Helper()
	p, held := r.admit(core.RoomOwner(room)), make(chan struct{})
	go func() {
		p.Permit.Owner.Tell(engine.Call{Do: func(*engine.Owner) { <-held }, Failed: func(error) {}})
		p.ReturnPermit()
	}()
	synctest.Wait()
	return func() { close(held) }
}

// records returns the number of records.
func (r *rig) records() int { return int(r.view.ShownSeq.Load()) }

// An agent that posts, decides, claims a task, watches or says that it works in
// a room gets a seat there. An agent that only reads, asks in private or posts
// elsewhere gets none, nor do the hub's own names and watches.
func TestWhoActsIsSeated(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room, other := r.newRoom("Room"), r.newRoom("Elsewhere")
		in := func(m hub.PostInput) hub.MessageID {
			m.Channel = room.Channel
			return r.post(m).ID
		}
		task := in(hub.PostInput{FromAgent: "poster", Kind: hub.KindTask, Body: "x"})
		hidden := in(hub.PostInput{FromAgent: "boss", ToAgent: "aide", Kind: hub.KindTaskRequest, Body: "in private"})
		if _, err := r.AddDecision(t.Context(), hub.DecisionInput{RoomID: room.RoomID, Title: "go", By: "decider"}); err != nil {
			t.Fatal(err)
		}
		for agent, id := range map[hub.AgentID]hub.TaskID{"claimer": task, "aide": hidden} {
			if _, err := r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: agent, TaskMessageID: id, TTLSec: 60}); err != nil {
				t.Fatal(err)
			}
		}
		until := hub.Condition{Kind: hub.UntilMessageFrom, Text: "message-from:poster", Agent: "poster"}
		watch := hub.WatchQuery{Agent: "watcher", Room: room.RoomID, Until: []hub.Condition{until}}
		if _, err := r.Watch(t.Context(), watch); err != nil {
			t.Fatal(err)
		}
		r.register("worker")
		if out, err := r.Sit(t.Context(), room.RoomID, hub.SitInput{AgentID: "worker"}); err != nil || out.Row.Role != "" || out.Row.Presence != hub.PresenceLive || out.Row.Unread != 2 {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := r.Events(t.Context(), hub.EventsQuery{Agent: "reader", RoomID: room.RoomID, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		r.say("stranger", other.Channel, "x")
		r.say("stranger", "general", "x")
		if _, err := r.tryPost(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, Channel: room.Channel, Body: "x"}); err != nil {
			t.Fatal(err)
		}
		r.seats.Acts(room.RoomID, "ann.watch")
		synctest.Wait()
		if got, want := r.seatedAs(room.RoomID), "claimer* decider* poster* watcher* worker*"; got != want {
			t.Errorf("seated are %s, want %s", got, want)
		}
		if got := r.seatedAs(other.RoomID); got != "stranger*" {
			t.Errorf("elsewhere are %s", got)
		}
		_, err := r.Sit(t.Context(), "r_zz", hub.SitInput{AgentID: "worker"})
		wantCode(t, err, hub.CodeRoomNotFound)
	})
}

// Only the first act of an agent in a room adds a record, and the post does not
// wait for it: the seat is requested once the post is durable.
func TestSeatCostsOneRecord(t *testing.T) {
	r := start(t, newMemStore())
	room := r.newRoom("Room")
	before := r.records()
	r.say("ann", room.Channel, "first")
	r.seatsSettled()
	if got := r.records() - before; got != 2 {
		t.Errorf("the first post and its seat took %d records", got)
	}
	before = r.records()
	for range 20 {
		r.say("ann", room.Channel, "again")
	}
	r.seatsSettled()
	if got := r.records() - before; got != 20 {
		t.Errorf("20 more posts took %d records", got)
	}
	if _, err := r.Sit(t.Context(), room.RoomID, hub.SitInput{AgentID: "ann"}); err != nil {
		t.Fatal(err)
	}
	if got := r.records() - before; got != 20 {
		t.Errorf("to sit where it has a seat took %d records", got-20)
	}
}

// A post is answered before its agent has the seat.
func TestPostDoesNotWaitForItsSeat(t *testing.T) {
	answered := make(chan struct{})
	r := start(t, newMemStore(), func(o *Options) {
		o.ApplyHook = func(_ core.Owner, f core.Fact) {
			if _, ok := f.(*core.SeatTaken); ok {
				<-answered
			}
		}
	})
	room := r.newRoom("Room")
	posted := async(func() (hub.Message, error) {
		return r.tryPost(t.Context(), hub.PostInput{FromAgent: "ann", Channel: room.Channel, Body: "x"})
	})
	if got := within(t, posted); got.err != nil {
		t.Fatal(got.err)
	}
	close(answered)
	r.seatsSettled()
	if got := r.seatedAs(room.RoomID); got != "ann*" {
		t.Errorf("seated are %s", got)
	}
}

// A seat that an agent got by acting gives it no rights: the agent does not
// count as known, nor its room as joined. Joining still gives the role and uses
// up the invite.
func TestActingSeatIsNoRight(t *testing.T) {
	r := start(t, newMemStore())
	room := r.newRoom("Room")
	ann := r.register("ann")
	for _, agent := range []hub.AgentID{"ann", "bob"} {
		r.say(agent, room.Channel, "x")
	}
	r.seatsSettled()
	if a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"}); err != nil || len(a.Rooms) != 0 {
		t.Errorf("rooms %v, %v", a.Rooms, err)
	}
	if b, err := r.Bootstrap(t.Context(), "ann"); err != nil || b.RoomID != nil {
		t.Errorf("bootstrap names room %v, %v", b.RoomID, err)
	}
	if r.view.Known("bob") || r.Hub.view.Acts("bob") {
		t.Error("a seat for a post makes its agent known")
	}
	invite, err := r.CreateInvite(t.Context(), hub.InviteInput{Project: "rooms", Room: "room", Role: "dev", MaxUses: 1, TTLSec: 60})
	require.NoError(t, err)
	got, err := r.AcceptInvite(asSession(t.Context(), ann.Session), invite.Row.Code, hub.AcceptInput{AgentID: "ann"})
	if err != nil || got.Row.Seat.AgentID != "ann" || got.Row.Seat.Role != "dev" {
		t.Fatalf("%+v, %v", got.Row.Seat, err)
	}
	if got := r.seatedAs(room.RoomID); got != "ann bob*" {
		t.Errorf("seated are %s", got)
	}
	if a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann"}); err != nil || !slices.Equal(a.Rooms, []hub.RoomID{room.RoomID}) {
		t.Errorf("after joining the rooms are %v, %v", a.Rooms, err)
	}
	_, err = r.AcceptInvite(t.Context(), invite.Row.Code, hub.AcceptInput{AgentID: "bob"})
	wantCode(t, err, hub.CodeInviteExhausted)
	before := r.records()
	r.say("ann", room.Channel, "as one who has joined")
	r.seatsSettled()
	if n := r.records() - before; n != 1 || r.seatedAs(room.RoomID) != "ann bob*" {
		t.Errorf("%d records, seated are %s", n, r.seatedAs(room.RoomID))
	}
}

// An agent that has been gone for ten minutes leaves the page, joined or not,
// and is only counted. It is shown again when it comes back. A joined seat
// stays.
func TestGoneLeaveThePage(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("joined")
		page := func(when, want string) {
			t.Helper()
			if got := r.onPage(room.RoomID, false); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		r.register("joined")
		r.register("acting")
		r.say("acting", room.Channel, "x")
		r.Touch("nobody", false)
		r.say("nobody", room.Channel, "x") // it has no session, ever
		synctest.Wait()
		page("all are there", "acting joined nobody; 3, 0 gone")
		time.Sleep(hub.SeatListedFor - time.Second)
		r.Touch("nobody", true)
		page("the sessions have ended a while ago", "acting joined nobody; 3, 0 gone")
		time.Sleep(idleLimit + time.Second)
		page("ten minutes after their end", "nobody; 1, 2 gone")
		if got := r.onPage(room.RoomID, true); got != "acting joined nobody; 3, 2 gone" {
			t.Errorf("all are %s", got)
		}
		r.Touch("joined", true)
		r.Touch("acting", true)
		page("they are back", "acting joined nobody; 3, 0 gone")
		time.Sleep(idleLimit + hub.SeatListedFor)
		page("all are gone", "; 0, 3 gone")
		r.register("late")
		r.say("late", room.Channel, "x")
		synctest.Wait()
		if got := r.seatedAs(room.RoomID); got != "joined late*" {
			t.Errorf("a seat of a long gone agent that only acted was not taken back: %s", got)
		}
		page("late has come", "late; 1, 1 gone")
		r.Touch("acting", false)
		r.say("acting", room.Channel, "again")
		synctest.Wait()
		page("acting posts again", "acting late; 2, 1 gone")
	})
}

// After a start, an agent that had a session counts as gone since its end. For
// an agent that never had one the time is unknown, so it counts as just seen.
func TestPageAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		room := r.newRoom("Room")
		for _, agent := range []hub.AgentID{"live", "ended"} {
			r.register(agent)
			r.say(agent, room.Channel, "x")
		}
		r.say("nobody", room.Channel, "x")
		time.Sleep(time.Second)
		for range 12 {
			time.Sleep(time.Minute)
			r.Touch("live", true)
		}
		if got, want := r.onPage(room.RoomID, false), "ended live; 2, 1 gone"; got != want {
			t.Errorf("before %s, want %s", got, want)
		}
		time.Sleep(time.Minute)
		r.stop()
		time.Sleep(time.Hour)
		again := start(t, store.restarted())
		defer again.stop()
		if got, want := again.onPage(room.RoomID, false), "live nobody; 2, 1 gone"; got != want {
			t.Errorf("after a start %s, want %s", got, want)
		}
		time.Sleep(idleLimit + hub.SeatListedFor + time.Second)
		if got, want := again.onPage(room.RoomID, false), "; 0, 3 gone"; got != want {
			t.Errorf("later %s, want %s", got, want)
		}
	})
}

// An agent counts as not listening if it is present, has made no call lately
// and waits for nothing.
func TestNotListening(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room := r.roomWithSeats("ann", "bob", "cid", "dan")
		r.register("ann")
		r.register("bob")
		r.register("cid")
		want := func(when string, want ...hub.AgentID) {
			t.Helper()
			if got := r.status(room.RoomID, "").NotListening; !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", when, got, want)
			}
		}
		want("all are in the middle of a turn")
		time.Sleep(hub.SeatWorkingFor)
		r.Touch("bob", false)
		r.claim("bob", "k", 600)
		go func() {
			_, _ = r.Claim(t.Context(), hub.ClaimInput{OwnerAgentID: "cid", ClaimKey: "k", TTLSec: 60, WaitSec: 5})
		}()
		synctest.Wait()
		want("one has just called, one waits for a lease", "ann")
		r.Touch("ann", true)
		want("a call that only keeps a session alive is no turn", "ann")
		time.Sleep(6 * time.Second)
		want("the wait is over", "ann", "cid")
	})
}

// The process may end at any step between a post and its seat: the next start
// gives the seat, and later starts do not give it again.
func TestSeatSurvivesCrashAtEveryStep(t *testing.T) {
	for _, at := range steps {
		t.Run(string(at), func(t *testing.T) {
			store := newMemStore()
			var mu sync.Mutex
			var left []*disk
			var on atomic.Bool
			r := start(t, store, func(o *Options) {
				o.Step = func(s engine.Step) {
					if mu.Lock(); s == at && on.Load() {
						left = append(left, store.clone())
					}
					mu.Unlock()
				}
			})
			room := r.newRoom("Room")
			r.seatsSettled()
			r.idle()
			on.Store(true)
			r.say("ann", room.Channel, "x")
			r.seatsSettled()
			r.idle()
			r.stop()
			if len(left) < 2 {
				t.Fatalf("%d moments: the seat is no record of its own", len(left))
			}
			for i, d := range left {
				again := start(t, &memStore{disk: d})
				page, err := again.Messages(t.Context(), hub.MessagesQuery{Channel: room.Channel, Limit: 1})
				require.NoError(t, err)
				posted := len(page.Rows) > 0
				again.seatsSettled()
				want := ""
				if posted {
					want = "ann*"
				}
				if got := again.seatedAs(room.RoomID); got != want {
					t.Errorf("moment %d, posted %v: seated are %q", i, posted, got)
				}
				again.stop()
				end := again.records()
				third := start(t, again.store.restarted())
				third.seatsSettled()
				if got := third.seatedAs(room.RoomID); got != want || third.records() != end {
					t.Errorf("moment %d, a start later: %q, %d records more", i, got, third.records()-end)
				}
				third.stop()
			}
		})
	}
}

// No checkpoint is taken over a post whose seat is still to be given.
func TestCheckpointWaitsForSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.newRoom("Room")
		synctest.Wait()
		free := r.holdRoom(room.RoomID)
		r.say("ann", room.Channel, "x")
		if _, err := r.engine.SaveCheckpoint(); err == nil {
			t.Error("a checkpoint was taken")
		}
		saved := async(r.engine.SaveCheckpoint)
		time.Sleep(time.Second)
		free()
		if got := <-saved; got.err != nil {
			t.Error(got.err)
		}
	})
}

// If a hub stops before it gives a seat, its last checkpoint does not hide the
// post: the next start gives the seat.
func TestStopLeavesSeatsToTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		room := r.newRoom("Room")
		synctest.Wait()
		free := r.holdRoom(room.RoomID)
		r.say("ann", room.Channel, "x")
		time.AfterFunc(2*engine.CommandLife, free)
		r.stop()
		if got := r.seatedAs(room.RoomID); got != "" {
			t.Fatalf("seated are %s: the test shows nothing", got)
		}
		again := start(t, store.restarted())
		defer again.stop()
		synctest.Wait()
		if got := again.seatedAs(room.RoomID); got != "ann*" {
			t.Errorf("seated are %q", got)
		}
	})
}

// The seats of a room are limited. An agent that acts in a full room gets no
// seat and no error: its post stands, and the room is asked again after a
// minute.
func TestActingInAFullRoom(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann") // the last seats are kept for agents that the hub knows
		r.register("old")
		time.Sleep(time.Duration(core.KnownAfter) * time.Millisecond)
		s := r.register("old")
		room := r.roomWithSeats(names[hub.AgentID]("seat", hub.MaxRoomSeats-1)...)
		r.say("old", room.Channel, "x")
		synctest.Wait()
		if got := r.seatedAs(room.RoomID); !strings.Contains(got, "old*") {
			t.Fatalf("seated are %s: the test shows nothing", got)
		}
		_, err := r.CloseSession(t.Context(), s.SessionID, "")
		require.NoError(t, err)
		time.Sleep(hub.SeatListedFor - 10*time.Second)
		r.Touch("ann", false) // so that its session begins again before the records are counted
		synctest.Wait()
		before := r.records()
		for range 5 {
			r.Touch("ann", false)
			r.say("ann", room.Channel, "x")
			synctest.Wait()
		}
		if got := r.records() - before; got != 5 {
			t.Errorf("%d records", got)
		}
		_, err = r.Sit(t.Context(), room.RoomID, hub.SitInput{AgentID: "ann"})
		wantCode(t, err, hub.CodeRoomFull)

		posts := func() bool {
			r.say("ann", room.Channel, "x")
			synctest.Wait()
			return strings.HasPrefix(r.seatedAs(room.RoomID), "ann*")
		}
		time.Sleep(20 * time.Second) // now the seat of old would be taken back
		if posts() {
			t.Error("a full room is asked again at once")
		}
		time.Sleep(time.Minute)
		if !posts() {
			t.Error("a full room is not asked again after a minute")
		}
	})
}
