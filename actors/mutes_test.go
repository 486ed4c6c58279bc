package actors

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) mute(in hub.MuteInput) {
	r.t.Helper()
	_, err := r.Mute(asOperator(context.Background()), in)
	require.NoError(r.t, err)
}

// posted posts and returns the whole answer.
func (r *rig) posted(in hub.PostInput) hub.Posted {
	r.t.Helper()
	if in.Channel == "" && in.ToAgent == "" {
		in.Channel = hub.DefaultChannel
	}
	if in.Channel == "" {
		in.Channel = hub.DirectChannel
	}
	if in.Kind == "" {
		in.Kind = hub.KindChat
	}
	out, err := r.Post(context.Background(), in)
	require.NoError(r.t, err)
	return out
}

// TestMutedWakesNobody: what a muted agent posts fulfills no condition of a watch, is in no
// list of what asks something, makes nobody asleep and ends no wait of a poll. It is counted,
// listed and read like any other message, and none of this changes when the mute ends.
func TestMutedWakesNobody(t *testing.T) {
	for name, in := range map[string]hub.PostInput{
		"direct":   {ToAgent: "ann", Body: "look"},
		"mention":  {Body: "@ann look"},
		"reply":    {Body: "here", ReplyTo: 1},
		"request":  {ToAgent: "ann", Kind: hub.KindTaskRequest, Body: "do it"},
		"decision": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, newMemStore())
				defer r.stop()
				room := r.makeRoom("ops")
				r.register("ann")
				asked := r.say("ann", room.Channel, "who knows?")
				r.mute(hub.MuteInput{AgentID: "ben", Reason: "too loud"})
				since := r.view.Ring.Visible()
				r.register("ben")
				q := watchOf(t, room.RoomID, time.Hour, "for-me", "message-from:ben", fmt.Sprint("answered:", asked.ID))
				q.Stream = true // any of them ends it
				woken := r.parked(q)
				poll := async(func() (hub.Page, error) {
					return r.Events(t.Context(), hub.EventsQuery{Agent: "ann", RoomID: room.RoomID, Since: since, Limit: 10, Wait: time.Minute, Peek: true})
				})
				synctest.Wait()
				if name == "decision" {
					must(r.AddDecision(t.Context(), hub.DecisionInput{RoomID: room.RoomID, Title: "ask @ann", By: "ben"}))
				} else {
					in.FromAgent = "ben"
					if in.ReplyTo != 0 {
						in.ReplyTo = asked.ID
					}
					if in.ToAgent == "" {
						in.Channel = room.Channel
					}
					if out := r.posted(in); out.Muted == nil || out.Muted.Reason != "too loud" {
						t.Errorf("the answer says %+v", out.Muted)
					}
				}
				_, err := r.EndMute(asOperator(t.Context()), hub.MuteEndInput{AgentID: "ben"})
				require.NoError(t, err)
				synctest.Wait()
				parked(t, woken)
				parked(t, poll)
				a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "ann", Room: room.RoomID})
				if err != nil || len(a.Directed) != 0 || a.Unread == 0 {
					t.Errorf("the attention is %+v, %v", a, err)
				}
				time.Sleep(time.Minute)
				if got := <-poll; got.err != nil || len(got.v.Rows) == 0 || got.v.NextSinceID <= since {
					t.Errorf("the poll ended with %+v", got)
				}
				time.Sleep(20 * time.Minute)
				if asleep := r.asleepAgents(); len(asleep) > 0 {
					t.Errorf("asleep are %v", asleep)
				}
				now, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ann", RoomID: room.RoomID, Since: since, Limit: 10, Wait: time.Minute})
				if err != nil || len(now.Rows) == 0 {
					t.Errorf("who reads gets %+v, %v", now, err)
				}
				parked(t, woken)
				r.posted(hub.PostInput{FromAgent: "ben", ToAgent: "ann", ReplyTo: asked.ID, Body: "now"})
				if got := <-woken; got.err != nil || !got.v.Met {
					t.Errorf("after the mute: %+v", got)
				}
			})
		})
	}
}

// TestMutedRoom: what agents post in a muted room wakes nobody there. What they post elsewhere,
// and what the operator and the hub say in the room, does as before.
func TestMutedRoom(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		room, other := r.makeRoom("ops"), r.makeRoom("till")
		r.register("ann")
		r.mute(hub.MuteInput{RoomID: room.RoomID, Reason: "only results"})
		waits := func(in hub.RoomID, say func()) bool {
			must(r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Since: r.view.Ring.Visible(), Limit: 10})) // it has seen all
			woken := r.parked(watchOf(t, in, time.Minute, "for-me"))
			say()
			synctest.Wait()
			select {
			case got := <-woken:
				require.NoError(t, got.err)
				return false
			default:
				return true
			}
		}
		if !waits(room.RoomID, func() {
			if out := r.posted(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "@ann look"}); out.Muted == nil || out.Muted.Says() == "" || out.Muted.AgentID != "" {
				t.Errorf("the answer says %+v", out.Muted)
			}
		}) {
			t.Error("a post in the muted room wakes an agent")
		}
		time.Sleep(2 * time.Minute) // the watch has ended
		if waits(other.RoomID, func() { r.posted(hub.PostInput{FromAgent: "ben", Channel: other.Channel, Body: "@ann look"}) }) {
			t.Error("a post in another room wakes nobody")
		}
		if waits(room.RoomID, func() {
			_, err := r.Post(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, Channel: room.Channel, Kind: hub.KindChat, Body: "@ann now"})
			require.NoError(t, err)
		}) {
			t.Error("the operator wakes nobody in the muted room")
		}
		_, err := r.EndMute(asOperator(t.Context()), hub.MuteEndInput{RoomID: room.RoomID})
		require.NoError(t, err)
		if waits(room.RoomID, func() { r.posted(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "@ann again"}) }) {
			t.Error("after the mute a post wakes nobody")
		}
	})
}

// TestWaitGoesOnOverMutedRows: a poll that waits is ended by the first row of another sender,
// however many rows of muted ones came before, and its answer misses none of them.
func TestWaitGoesOnOverMutedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		r.mute(hub.MuteInput{AgentID: "ben"})
		since := r.view.Ring.Visible()
		poll := func(agent hub.AgentID) <-chan result[hub.Page] {
			return async(func() (hub.Page, error) {
				return r.Events(t.Context(), hub.EventsQuery{Agent: agent, Channels: []hub.ChannelName{hub.DefaultChannel}, Since: since, Limit: 3, Wait: time.Minute})
			})
		}
		ann := poll("ann")
		human := async(func() (hub.Page, error) {
			return r.Log(asOperator(t.Context()), hub.LogQuery{Limit: 3, SinceID: since, Wait: time.Minute})
		})
		synctest.Wait()
		var want []hub.MessageID
		for range 8 {
			want = append(want, r.say("ben", hub.DefaultChannel, "blah").ID)
			synctest.Wait()
		}
		parked(t, ann)
		if got := <-human; got.err != nil || len(got.v.Rows) != 1 {
			t.Errorf("a person who follows the log gets %+v", got)
		}
		want = append(want, r.say("cid", hub.DefaultChannel, "news").ID)
		got := <-ann
		var read []hub.MessageID
		for got.err == nil && len(got.v.Rows) > 0 {
			for _, row := range got.v.Rows {
				m, err := row.Decode()
				require.NoError(t, err)
				read = append(read, m.ID)
			}
			next := got.v.NextSinceID
			got.v, got.err = r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Channels: []hub.ChannelName{hub.DefaultChannel}, Since: next, Limit: 3})
		}
		if fmt.Sprint(read) != fmt.Sprint(want) {
			t.Errorf("read were %v, want %v", read, want)
		}
	})
}

// TestMuteOfARoom: an agent that is muted in a room is heard elsewhere.
func TestMuteOfARoom(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.mute(hub.MuteInput{AgentID: "ben", RoomID: room.RoomID})
	if out := r.posted(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "x"}); out.Muted == nil || *out.Muted.RoomID != room.RoomID {
		t.Errorf("in the room: %+v", out.Muted)
	}
	if out := r.posted(hub.PostInput{FromAgent: "ben", Channel: room.Channel, ToAgent: "ann", Body: "x"}); out.Muted == nil || !r.receipt(messageID(out.Row)).Muted {
		t.Errorf("to one agent about the room: %+v", out.Muted)
	}
	for _, in := range []hub.PostInput{{FromAgent: "ben", Body: "x"}, {FromAgent: "ben", ToAgent: "ann", Body: "x"}, {FromAgent: "cid", Channel: room.Channel, Body: "x"}} {
		if out := r.posted(in); out.Muted != nil {
			t.Errorf("%+v: %+v", in, out.Muted)
		}
	}
	_, err := r.Mute(asOperator(t.Context()), hub.MuteInput{AgentID: "ben", RoomID: "r_zz"})
	wantCode(t, err, hub.CodeRoomNotFound)
}

// TestMuteOfAnEarlierID: an agent that has gone on under another id is muted, and ends to be,
// by the id that the operator knows.
func TestMuteOfAnEarlierID(t *testing.T) {
	r := start(t, newMemStore())
	old := r.register("impl")
	r.register("ann")
	_, err := r.CloseSession(t.Context(), old.SessionID, "ann")
	require.NoError(t, err)
	muted, err := r.Mute(t.Context(), hub.MuteInput{AgentID: "impl"})
	require.NoError(t, err)
	ended, err := r.EndMute(t.Context(), hub.MuteEndInput{AgentID: "impl"})
	require.NoError(t, err)
	rest, err := r.Mutes(t.Context())
	require.NoError(t, err)
	if muted.Row.AgentID != "ann" || ended.Row.AgentID != "ann" || len(rest) != 0 {
		t.Errorf("muted %s, ended that of %s, and %v stay", muted.Row.AgentID, ended.Row.AgentID, rest)
	}
	if _, err := r.EndMute(t.Context(), hub.MuteEndInput{AgentID: "impl"}); codeOf(err) != hub.CodeNotMuted {
		t.Errorf("a second end: %v", err)
	}
}

// TestMuteEndsByItself, without a fact and at the very moment.
func TestMuteEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		r.mute(hub.MuteInput{AgentID: "ben", ForSec: 60})
		time.Sleep(time.Minute - time.Millisecond)
		if out := r.posted(hub.PostInput{FromAgent: "ben", Body: "x"}); out.Muted == nil {
			t.Error("it has ended too early")
		}
		time.Sleep(time.Millisecond)
		if out := r.posted(hub.PostInput{FromAgent: "ben", Body: "x"}); out.Muted != nil {
			t.Errorf("it goes on: %+v", out.Muted)
		}
		if all, err := r.Mutes(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("the mutes are %+v, %v", all, err)
		}
		_, err := r.EndMute(asOperator(t.Context()), hub.MuteEndInput{AgentID: "ben"})
		wantCode(t, err, hub.CodeNotMuted)
	})
}

// TestMuteIsForAgents: what the operator says is never muted, and a question of a muted
// agent reaches the operator.
func TestMuteIsForAgents(t *testing.T) {
	r := start(t, newMemStore())
	r.mute(hub.MuteInput{AgentID: "ben"})
	out, err := r.Post(asOperator(t.Context()), hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: "ben", Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x"})
	if err != nil || out.Muted != nil {
		t.Errorf("the operator: %+v, %v", out.Muted, err)
	}
	if out := r.posted(hub.PostInput{FromAgent: "ben", ToAgent: hub.AgentOperator, Body: "May I?"}); out.Muted != nil || len(r.openAsks()) != 1 {
		t.Errorf("a question: %+v, %d are open", out.Muted, len(r.openAsks()))
	}
}

// TestMuteSurvivesCrashAtEveryStep: a mute that was acknowledged holds after a loss of power
// at any step of a write, what a restart shows is what its owner decides by, and a muted
// message stays muted.
func TestMuteSurvivesCrashAtEveryStep(t *testing.T) {
	for _, step := range waysOfAWrite {
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprintf("%s-%d", step, nth), func(t *testing.T) {
				crash := &stepCrash{store: newMemStore(), step: step, nth: nth}
				r := start(t, crash.store, crash.option)
				r.mute(hub.MuteInput{AgentID: "ben"})
				id := r.say("ben", hub.DefaultChannel, "@ann x").ID
				crash.arm()
				r.mute(hub.MuteInput{AgentID: "cid"})
				_, err := r.EndMute(asOperator(t.Context()), hub.MuteEndInput{AgentID: "cid"})
				require.NoError(t, err)
				again := start(t, crash.over())
				if out := again.posted(hub.PostInput{FromAgent: "ben", Body: "x"}); out.Muted == nil {
					t.Error("the muted agent wakes others")
				}
				if m, err := again.view.Message(id); err != nil || !m.Muted {
					t.Errorf("the message is %+v, %v", m, err)
				}
				shown, err := again.Mutes(context.Background())
				require.NoError(t, err)
				decided, err := again.loadMutes()
				require.NoError(t, err)
				if got, want := inJSON(t, shown), inJSON(t, decided.List()); got != want {
					t.Errorf("shown are %s, decided %s", got, want)
				}
			})
		}
	}
}
