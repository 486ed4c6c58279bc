package actors

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) receipt(id hub.MessageID) hub.Receipt {
	r.t.Helper()
	got, err := r.Receipt(context.Background(), id, "ben")
	if err != nil {
		r.t.Fatalf("receipt of %d: %v", id, err)
	}
	return got
}

// TestReceipt: a receipt says what the recipient confirmed and nothing more. It
// names the way by which the message was handed over, and the session that got it.
func TestReceipt(t *testing.T) {
	ctx := context.Background()
	ways := map[hub.OfferedBy]func(r *rig, id hub.MessageID) error{
		hub.OfferedByPoll: func(r *rig, _ hub.MessageID) error {
			_, err := r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 10})
			return err
		},
		hub.OfferedByWatch: func(r *rig, _ hub.MessageID) error {
			c, err := hub.ParseCondition("until", "for-me")
			if err == nil {
				_, err = r.Watch(ctx, hub.WatchQuery{Agent: "ann", Room: r.roomWithSeats().RoomID, Until: []hub.Condition{c}})
			}
			return err
		},
		hub.OfferedByHook: func(r *rig, id hub.MessageID) error {
			_, err := r.Tell(ctx, hub.ToldInput{AgentID: "ann", ToldID: id})
			return err
		},
	}
	seen := map[string]func(r *rig, id hub.MessageID) error{
		"a poll past it": func(r *rig, id hub.MessageID) error {
			_, err := r.Events(ctx, hub.EventsQuery{Agent: "ann", Since: id, Limit: 10})
			return err
		},
		"a reply": func(r *rig, id hub.MessageID) error {
			_, err := r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Body: "x", ReplyTo: id})
			return err
		},
	}
	for way, offer := range ways {
		for name, see := range seen {
			t.Run(string(way)+", "+name, func(t *testing.T) {
				r := start(t, newMemStore())
				session := r.register("ann").SessionID.Public()
				id := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"}).ID
				if got := r.receipt(id); got.State != hub.ReceiptStored || got.Offered != nil {
					t.Errorf("at first %+v", got)
				}
				require.NoError(t, offer(r, id))
				got := r.receipt(id)
				if o := got.Offered; got.State != hub.ReceiptOffered || o == nil || o.By == nil || *o.By != way || *o.SessionID != session {
					t.Errorf("then %+v, %+v", got, got.Offered)
				}
				later := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "y"}).ID
				if got := r.receipt(later); got.State != hub.ReceiptStored {
					t.Errorf("a later message: %+v", got)
				}
				require.NoError(t, see(r, id))
				if got := r.receipt(id); got.State != hub.ReceiptSeen {
					t.Errorf("at last %+v", got)
				}
			})
		}
	}
}

// TestReceiptAfterARestart: the told mark outlives a stop, and what the receipt
// does not know any more it does not invent.
func TestReceiptAfterARestart(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	id := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"}).ID
	_, err := r.Tell(context.Background(), hub.ToldInput{AgentID: "ann", ToldID: id})
	require.NoError(t, err)
	r.stop()
	got := start(t, r.store.restarted()).receipt(id)
	if got.State != hub.ReceiptOffered || got.Offered == nil || *got.Offered != (hub.Offer{}) {
		t.Errorf("after a restart %+v, %+v", got, got.Offered)
	}
}

// TestReceiptOfWhatHasNone: a public message has no receipt, and the direct
// message of others is as if there were none.
func TestReceiptOfWhatHasNone(t *testing.T) {
	r := start(t, newMemStore())
	public := r.say("ben", hub.DefaultChannel, "x").ID
	direct := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "x"}).ID
	for viewer, codes := range map[hub.AgentID][2]hub.Code{
		"ben": {hub.CodeInvalid, ""}, "ann": {hub.CodeInvalid, ""},
		"cleo": {hub.CodeInvalid, hub.CodeMessageNotFound}, "": {hub.CodeInvalid, hub.CodeMessageNotFound},
	} {
		for i, id := range []hub.MessageID{public, direct} {
			if _, err := r.Receipt(context.Background(), id, viewer); codeOf(err) != codes[i] {
				t.Errorf("message %d for %q: %v", id, viewer, err)
			}
		}
	}
	if _, err := r.Receipt(asOperator(context.Background()), direct, ""); err != nil {
		t.Error(err)
	}
}

// TestPostSaysWhoCannotBeReached: the answer to a direct message says so if its
// recipient would not notice it now, and says nothing otherwise.
func TestPostSaysWhoCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.roomWithSeats()
		says := func(when string, want hub.RecipientState) {
			t.Helper()
			out, err := r.Post(context.Background(), hub.PostInput{FromAgent: "ben", ToAgent: "ann", Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x"})
			require.NoError(t, err)
			got := hub.RecipientState("")
			if out.Recipient != nil {
				got = out.Recipient.State
				if out.Recipient.Reachable || out.Recipient.Why() == "" {
					t.Errorf("%s: %+v", when, out.Recipient)
				}
			}
			if got != want {
				t.Errorf("%s: the answer says %q, want %q", when, got, want)
			}
		}
		says("nobody has come", hub.RecipientNeverRegistered)
		session := r.register("ann")
		r.register("cleo")
		says("it has come now", "")
		time.Sleep(hub.SeatWorkingFor)
		says("it has been silent", hub.RecipientAsleep)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c, _ := hub.ParseCondition("until", "message-from:cleo")
			_, _ = r.Watch(ctx, hub.WatchQuery{Agent: "ann", Room: room.RoomID, Until: []hub.Condition{c}, Wait: time.Minute})
		}()
		synctest.Wait()
		says("its watch waits", "")
		cancel()
		<-ended
		_, err := r.CloseSession(context.Background(), session.SessionID, "")
		require.NoError(t, err)
		says("its session has ended", hub.RecipientGone)
		for _, other := range []hub.AgentID{"ben", hub.AgentOperator} {
			out, err := r.Post(context.Background(), hub.PostInput{FromAgent: "ben", ToAgent: other, Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x"})
			if err != nil || out.Recipient != nil {
				t.Errorf("to %s: %+v, %v", other, out.Recipient, err)
			}
		}
		r.stop()
	})
}

// TestNearIDsAreProposed: a sender to an id that nobody has is told of the agents that are meant as
// a rule, and of the operator where the word means the person.
func TestNearIDsAreProposed(t *testing.T) {
	r := start(t, newMemStore())
	for _, id := range []hub.AgentID{"reviewer", "dev-a", "dev-b", "night.watch"} {
		r.register(id)
	}
	for id, want := range map[hub.AgentID][]hub.AgentID{
		"Reviewer": {"reviewer"}, "reviewr": {"reviewer"}, "reviewer-": {"reviewer"}, "deva": {"dev-a"}, "dev-aa": {"dev-a"}, "dev-a1": {}, "dev-c": {},
		"human": {hub.AgentOperator}, "Me": {hub.AgentOperator}, "somebody-else": {}, "nightwatch": {},
	} {
		got, err := r.Recipient(t.Context(), id)
		if err != nil || got.State != hub.RecipientNeverRegistered || !slices.Equal(got.Near, want) {
			t.Errorf("near %s are %v, want %v; %v", id, got.Near, want, err)
		}
		if len(want) > 0 && !strings.Contains(got.Why(), "did you mean "+string(want[0])+"?") {
			t.Errorf("%s: %q", id, got.Why())
		}
	}
}

// TestIDsThatDifferInCase: a new agent whose id differs from a known one in case alone is refused
// with that one's name, also after a restart; the known one comes back as it likes.
func TestIDsThatDifferInCase(t *testing.T) {
	r := start(t, newMemStore())
	r.register("dev-a")
	for range 2 {
		for _, id := range []hub.AgentID{"Dev-A", "DEV-A"} {
			_, err := r.Register(t.Context(), hub.RegisterInput{AgentID: id})
			wantCode(t, err, hub.CodeSessionConflict)
			if !strings.Contains(err.Error(), "agent dev-a") {
				t.Errorf("%s: %v", id, err)
			}
		}
		r.register("dev-a")
		r.register("dev-b")
		r = start(t, r.crash())
	}
}

// TestRecipientThatIsWokenIsListening: the sender of the message that ends a wait is not told that
// nothing waits, though by then nothing does.
func TestRecipientThatIsWokenIsListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.newRoom("hall")
		r.register("ann")
		r.register("ben")
		q := watchOf(t, room.RoomID, 30*time.Minute, "for-me")
		q.Agent = "ben"
		waits := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
		time.Sleep(hub.SeatWorkingFor + 30*time.Second) // so that it is silent
		out, err := r.Post(context.Background(), hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "wake"})
		if err != nil || out.Recipient != nil {
			t.Errorf("the recipient is %+v, %v", out.Recipient, err)
		}
		if w := <-waits; w.err != nil || !w.v.Met {
			t.Errorf("the watch ends with %+v, %v", w.v, w.err)
		}
	})
}

// TestSendersToArmedAgentsAreToldNothing: of 200 messages to an agent that waits by a watch, or by
// a poll, none is answered with "nothing waits": neither the one that ends the wait nor those until
// it waits again. The status of the room says the same. An agent that is woken and does nothing is
// called asleep after a while.
func TestSendersToArmedAgentsAreToldNothing(t *testing.T) {
	for _, way := range []string{"watch", "poll"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				defer r.stop()
				room := r.newRoom("hall")
				r.register("ann")
				r.register("ben")
				q := watchOf(t, room.RoomID, 30*time.Minute, "for-me")
				q.Agent = "ben"
				quit, ended, dead := make(chan struct{}), make(chan struct{}), make(chan struct{})
				defer close(dead)
				go func() { // its bridge keeps the session live
					for {
						select {
						case <-dead:
							return
						case <-time.After(30 * time.Second):
							r.view.Directory.Touch("ben", hub.TimeOf(time.Now()))
						}
					}
				}()
				go func() {
					defer close(ended)
					for since := hub.MessageID(0); ; {
						if way == "watch" {
							w, err := r.Watch(context.Background(), q)
							require.NoError(t, err)
							q.After = w.HeadID
						} else {
							page, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ben", Since: since, Limit: 10, Wait: 25 * time.Second})
							require.NoError(t, err)
							since = page.NextSinceID
						}
						select {
						case <-quit:
							return
						case <-time.After(3 * time.Second): // its program begins a turn
						}
					}
				}()
				post := func() *hub.Recipient {
					out, err := r.Post(context.Background(), hub.PostInput{FromAgent: "ann", ToAgent: "ben", Body: "wake"})
					require.NoError(t, err)
					return out.Recipient
				}
				time.Sleep(2*hub.SeatWorkingFor + 5*time.Second) // so that it is silent
				wrong := 0
				for range 200 {
					if got := post(); got != nil {
						wrong++
					}
					status, err := r.RoomStatus(context.Background(), hub.StatusQuery{RoomID: room.RoomID, Viewer: "ann", All: true})
					require.NoError(t, err)
					if slices.Contains(status.NotListening, "ben") {
						wrong++
					}
					time.Sleep(170 * time.Millisecond)
				}
				if wrong != 0 {
					t.Errorf("%d of 200 posts, or statuses of the room, say that nothing waits", wrong)
				}
				close(quit)
				<-ended
				time.Sleep(hub.WokenFor + hub.SeatWorkingFor)
				if got := post(); got == nil || got.State != hub.RecipientAsleep {
					t.Errorf("to one that was woken and did nothing: %+v", got)
				}
			})
		})
	}
}

// TestStreamIsNoSignOfLife: a stream goes on when its agent's bridge has ended the session, as when
// the program was killed. The agent is gone then, for senders and for its tasks, until it comes back.
// An agent that never had a session is there by its stream.
func TestStreamIsNoSignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.newRoom("hall")
		session := r.register("ben")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, agent := range []hub.AgentID{"ben", "script"} {
			q := watchOf(t, room.RoomID, time.Hour, "for-me")
			q.Agent, q.Stream = agent, true
			go func() { _, _ = r.Watch(ctx, q) }()
		}
		synctest.Wait()
		says := func(when string, agent hub.AgentID, want hub.RecipientState, there bool) {
			t.Helper()
			got, err := r.Recipient(ctx, agent)
			if err != nil || got.State != want {
				t.Errorf("%s: %s is %s, %v; want %s", when, agent, got.State, err, want)
			}
			if since, err := r.goneSince(agent); err != nil || (since == 0) != there {
				t.Errorf("%s: %s is gone since %d, %v", when, agent, since, err)
			}
		}
		says("with a session", "ben", hub.RecipientListening, true)
		says("without one", "script", hub.RecipientListening, true)
		_, err := r.CloseSession(ctx, session.SessionID, "")
		require.NoError(t, err)
		time.Sleep(hub.SeatWorkingFor)
		says("when it has ended", "ben", hub.RecipientGone, false)
		says("without one", "script", hub.RecipientListening, true)
		r.register("ben")
		says("when it is back", "ben", hub.RecipientListening, true)
	})
}
