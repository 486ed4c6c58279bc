package actors

import (
	"bytes"
	"cmp"
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

// hall makes a room, and an invite to it with these uses and this lifetime.
func (r *rig) hall(uses, ttlSec int, handle hub.AgentID) (hub.Room, hub.Invite) {
	r.t.Helper()
	if _, err := r.CreateProject(r.t.Context(), hub.ProjectInput{Name: "Joining"}); err != nil {
		r.t.Fatal(err)
	}
	room, err := r.CreateRoom(r.t.Context(), hub.RoomInput{Project: "joining", Name: "Hall"})
	require.NoError(r.t, err)
	invite, err := r.CreateInvite(r.t.Context(), hub.InviteInput{Project: "joining", Room: "hall", Handle: handle, MaxUses: uses, TTLSec: ttlSec})
	require.NoError(r.t, err)
	return room.Row, invite.Row
}

func remotely(ctx context.Context) context.Context {
	c := *hub.CallerOf(ctx)
	c.Remote = true
	return hub.WithCaller(ctx, &c)
}

// If the hub dies when the seat is durable and the session is not, the same
// call later finishes the join. Every repetition gets the same answer.
func TestAcceptGoesOnAfterACrashBetweenItsSteps(t *testing.T) {
	for _, asked := range []hub.AgentID{"", "dev"} {
		t.Run(string(asked), func(t *testing.T) {
			store := newMemStore()
			r := start(t, store)
			_, invite := r.hall(1, 60, "guest")
			var left *memStore
			store.mu.Lock()
			store.onAppend = func(g *core.Group) {
				for _, rec := range g.Records {
					if rec.Owner.Kind == core.OwnerAgent && left == nil {
						left = store.restarted()
					}
				}
			}
			store.mu.Unlock()
			ctx := withKey(t.Context(), "k", "b")
			first, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: asked})
			require.NoError(t, err)
			_ = r.stopQuietly()
			if left == nil {
				t.Fatal("no session was stored")
			}
			again := start(t, left)
			if _, _, live := again.view.Directory.Session(first.Row.Seat.AgentID); live {
				t.Fatal("the session was stored before the crash")
			}
			var answers []hub.Joined
			for range 3 {
				out, err := again.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: asked})
				if err != nil || !out.Replayed {
					t.Fatalf("replayed %v, %v", out.Replayed, err)
				}
				answers = append(answers, out.Row)
			}
			for _, a := range answers {
				if a.Seat.SeatID != first.Row.Seat.SeatID || a.Seat.AgentID != first.Row.Seat.AgentID || a.ResumeKey == "" ||
					a.ResumeKey != answers[0].ResumeKey || a.Session.SessionID != answers[0].Session.SessionID {
					t.Errorf("answered %+v, first %+v", a, first.Row)
				}
			}
			if _, err := again.Authenticate(t.Context(), answers[0].Session.SessionID); err != nil {
				t.Errorf("the session is not valid: %v", err)
			}
			if rows, _, err := again.Invites(t.Context(), hub.InvitesQuery{Limit: 9}); err != nil || len(rows) != 1 || rows[0].Uses != 1 || rows[0].State != hub.InviteExhausted {
				t.Errorf("the invite is %+v, %v", rows, err)
			}
		})
	}
}

// A live agent is never evicted, and no other agent gets its secrets. A joiner
// from another machine gets no name that any agent has had.
func TestJoinersNames(t *testing.T) {
	r := start(t, newMemStore())
	room, invite := r.hall(50, 60, "")
	live := r.register("dev")
	join := func(ctx context.Context, id hub.AgentID) hub.Joined {
		t.Helper()
		out, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: id})
		if err != nil {
			t.Fatalf("join as %s: %v", id, err)
		}
		return out.Row
	}
	want := func(what string, got hub.Joined, agent, requested hub.AgentID, secret bool) {
		t.Helper()
		full := strings.Contains(string(got.Session.SessionID), ".")
		if got.Seat.AgentID != agent || got.Requested != requested || full != secret || (got.ResumeKey != "") != secret {
			t.Errorf("%s: %s for %q, secrets %v, want %s for %q, %v", what, got.Seat.AgentID, got.Requested, full, agent, requested, secret)
		}
	}
	ctx := t.Context()
	want("a live name", join(ctx, "dev"), "dev-2", "dev", true)
	want("the same name again", join(ctx, "dev-2"), "dev-2", "", false)
	want("a live name, with proof", join(asSession(ctx, live.Session), "dev"), "dev", "", true)
	if s, _, _ := r.view.Directory.Session("dev"); s.SessionID != live.SessionID.Public() {
		t.Errorf("dev has the session %s now", s.SessionID)
	}
	want("no name", join(ctx, ""), "agent", "", true)
	want("no name again", join(ctx, ""), "agent-2", "agent", true)
	gone := r.register("gone")
	if _, err := r.CloseSession(ctx, gone.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	want("a name that was left", join(ctx, "gone"), "gone", "", true)
	if s, _, _ := r.view.Directory.Session("gone"); !s.Active {
		t.Error("gone is not live")
	}
	other := r.register("other")
	if _, err := r.CloseSession(ctx, other.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	want("a name of a former agent, from another machine", join(remotely(ctx), "other"), "other-2", "other", true)
	want("its own name, from another machine, without proof", join(remotely(ctx), "other-2"), "other-2-2", "other-2", true)
	want("a new name from another machine", join(remotely(ctx), "new"), "new", "", true)
	long := hub.AgentID(strings.Repeat("x", hub.MaxAgentIDBytes))
	r.register(long)
	want("a long name", join(ctx, long), long[:hub.MaxAgentIDBytes-2]+"-2", long, true)
	seats, err := r.view.SeatsOf(room.RoomID)
	if err != nil || len(seats) != 9 {
		t.Errorf("%d seats, %v", len(seats), err)
	}
}

// An agent that never registered may have messages, tasks or leases. A caller
// from another machine does not get them by giving the agent's name. A joiner
// to which the hub gives the name gets them only if all of them were addressed
// to the name.
func TestNamesOfAgentsThatNeverRegistered(t *testing.T) {
	lives := map[string]func(r *rig){
		"written to": func(r *rig) { r.post(hub.PostInput{FromAgent: "lead", ToAgent: "ghost", Body: "for you"}) },
		"has polled": func(r *rig) {
			r.say("lead", "", "hello")
			if _, err := r.Events(r.t.Context(), hub.EventsQuery{Agent: "ghost", Since: 1, Limit: 1}); err != nil {
				r.t.Fatal(err)
			}
		},
		"has a seat elsewhere": func(r *rig) {
			room, err := r.CreateRoom(r.t.Context(), hub.RoomInput{Project: "joining", Name: "Kitchen"})
			require.NoError(r.t, err)
			other, err := r.CreateInvite(r.t.Context(), hub.InviteInput{Project: "joining", Room: string(room.Row.RoomID), MaxUses: 1, TTLSec: 60})
			require.NoError(r.t, err)
			if _, _, err := r.takeSeat(r.t.Context(), other.Row.Code, hub.AcceptInput{AgentID: "ghost"}); err != nil {
				r.t.Fatal(err)
			}
		},
		"holds a claim": func(r *rig) { r.claim("ghost", "k", 60) },
		"has a task": func(r *rig) {
			task := r.post(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Body: "work"})
			ghost := hub.AgentID("ghost")
			if _, err := r.UpdateTask(r.t.Context(), task.ID, hub.TaskUpdateInput{Assignee: &ghost}); err != nil {
				r.t.Fatal(err)
			}
		},
		"has given a task": func(r *rig) { r.post(hub.PostInput{FromAgent: "ghost", Kind: hub.KindTask, Body: "work"}) },
		"":                 func(r *rig) { r.say("ghost", "", "I was here") },
	}
	for name, live := range lives {
		t.Run(cmp.Or(name, "has only spoken"), func(t *testing.T) {
			r := start(t, newMemStore())
			_, invite := r.hall(9, 60, "ghost")
			live(r)
			if known := r.view.Known("ghost"); known != (name != "") {
				t.Fatalf("known: %v", known)
			}
			if name == "" {
				return
			}
			chosen := hub.AgentID("ghost-4")
			if name == "written to" || name == "has a task" {
				chosen = "ghost"
			}
			for _, c := range []struct {
				what string
				ctx  context.Context
				id   hub.AgentID
				want hub.AgentID
			}{
				{"its name, from another machine", remotely(t.Context()), "ghost", "ghost-2"},
				{"no name, from another machine", remotely(t.Context()), "", "ghost-3"},
				{"no name", t.Context(), "", chosen},
				{"its name, on this machine", t.Context(), "ghost", "ghost"},
			} {
				out, err := r.AcceptInvite(c.ctx, invite.Code, hub.AcceptInput{AgentID: c.id})
				if err != nil || out.Row.Seat.AgentID != c.want {
					t.Errorf("%s: %s, %v, want %s", c.what, out.Row.Seat.AgentID, err, c.want)
				}
			}
		})
	}
}

// Between the two steps an agent begins a session under the name that the hub
// chose. The seat then gets another name, and a repetition gets the same
// answer.
func TestChosenNameTakenBetweenTheSteps(t *testing.T) {
	r := start(t, newMemStore())
	room, invite := r.hall(2, 60, "guest")
	ctx := withKey(t.Context(), "k", "b")
	got, _, err := r.takeSeat(ctx, invite.Code, hub.AcceptInput{})
	if err != nil || got.Seat.AgentID != "guest" {
		t.Fatalf("seat %+v, %v", got, err)
	}
	other := r.register("guest")
	first, err := r.joinSession(ctx, &got, hub.AcceptInput{})
	if err != nil || first.AgentID != "guest-2" || got.Seat.AgentID != "guest-2" {
		t.Fatalf("joined as %+v in %+v, %v", first, got.Seat, err)
	}
	if _, err := r.CloseSession(t.Context(), other.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	again, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{})
	if err != nil || again.Row.Seat.SeatID != got.Seat.SeatID || again.Row.ResumeKey != first.ResumeKey || again.Row.Seat.AgentID != "guest-2" || again.Row.Requested != "guest" {
		t.Errorf("again: %+v, %v", again.Row, err)
	}
	if rooms, err := r.view.RoomsOf("guest"); err != nil || len(rooms) != 0 {
		t.Errorf("guest is in %v, %v", rooms, err)
	}
	seats, err := r.view.SeatsOf(room.RoomID)
	if err != nil || len(seats) != 1 || seats[0].AgentID != "guest-2" {
		t.Errorf("seats: %+v, %v", seats, err)
	}
}

// An invite is valid until the last millisecond of its time, and expired ever
// after. Downtime does not count.
func TestInviteExpiresExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		_, invite := r.hall(9, 60, "guest")
		time.Sleep(30 * time.Second)
		r.stop()
		time.Sleep(time.Hour)
		r = start(t, store.restarted())
		defer r.stop()
		if _, err := r.AcceptInvite(t.Context(), invite.Code, hub.AcceptInput{}); err != nil {
			t.Fatalf("half of its time is left: %v", err)
		}
		p, err := r.PreviewInvite(t.Context(), invite.Code)
		require.NoError(t, err)
		left := time.Until(p.Invite.ExpiresAt.Std())
		time.Sleep(left - time.Millisecond)
		if _, err := r.AcceptInvite(t.Context(), invite.Code, hub.AcceptInput{}); err != nil {
			t.Errorf("a millisecond is left: %v", err)
		}
		time.Sleep(time.Millisecond)
		if p, err := r.PreviewInvite(t.Context(), invite.Code); err != nil || p.Invite.State != hub.InviteExpired || p.Invite.Uses != 2 {
			t.Errorf("the invite is %+v, %v", p.Invite, err)
		}
		if _, err := r.AcceptInvite(t.Context(), invite.Code, hub.AcceptInput{}); !errors.Is(err, &hub.Error{Code: hub.CodeInviteExpired}) {
			t.Errorf("its time is over: %v", err)
		}
		if i, err := r.inviteByID(invite.InviteID); err != nil || i.State != hub.InviteExpired {
			t.Errorf("the hub answered that the invite has expired before it stored this: %+v, %v", i, err)
		}
	})
}

// After a panic in Apply the owner is rebuilt with all that it had decided,
// also with the content that no fact carries.
func TestArtifactSurvivesAPanicInApply(t *testing.T) {
	store := newMemStore()
	panics := 1
	r := start(t, store, func(o *Options) {
		o.ApplyHook = func(_ core.Owner, f core.Fact) {
			if a, ok := f.(*core.ArtifactAdded); ok && a.Version == 2 && panics > 0 {
				panics--
				panic("a faulty Apply")
			}
		}
	})
	room, _ := r.hall(1, 60, "")
	var ids []hub.ArtifactID
	for version := int64(1); version <= 3; version++ {
		body := fmt.Sprintf("content %d", version)
		out, err := r.AddArtifact(t.Context(), hub.ArtifactInput{RoomID: room.RoomID, Title: "t", Kind: "k", Body: &body})
		if err != nil || out.Row.Version != version {
			t.Fatalf("version %d: %+v, %v", version, out.Row, err)
		}
		ids = append(ids, out.Row.ArtifactID)
	}
	check := func(r *rig) {
		t.Helper()
		for i, id := range ids {
			got, err := r.ArtifactContent(t.Context(), id)
			if want := fmt.Sprintf("content %d", i+1); err != nil || !bytes.Equal(got.Data, []byte(want)) {
				t.Errorf("%s: %q, %v", id, got.Data, err)
			}
		}
		if rows, _, err := r.Artifacts(t.Context(), hub.ArtifactsQuery{RoomID: room.RoomID, Limit: 9}); err != nil || len(rows) != 3 {
			t.Errorf("%d artifacts, %v", len(rows), err)
		}
	}
	check(r)
	check(start(t, r.crash()))
}

// A join leaves earlier messages unread that were sent to the agent, and to an agent that was
// there before also those that name it. What was said in channels before an agent came is
// history, also if it names the agent. A repeated join changes nothing of that.
func TestJoinLeavesMessagesToTheJoinerUnread(t *testing.T) {
	brief := func(r *rig) hub.MessageID {
		return r.post(hub.PostInput{FromAgent: "lead", ToAgent: "dev", Body: "your brief"}).ID
	}
	mention := func(r *rig) hub.MessageID { return r.say("lead", hub.DefaultChannel, "ask @dev about it").ID }
	for name, c := range map[string]struct {
		before func(r *rig) // what the agent did earlier
		asks   func(r *rig) hub.MessageID
	}{
		"written to before it joins": {asks: brief},
		"named before it joins":      {before: func(r *rig) { mention(r) }},
		"live, and written to":       {before: func(r *rig) { r.register("dev") }, asks: brief},
		"live, and named":            {before: func(r *rig) { r.register("dev") }, asks: mention},
		"has read, and is then written to": {asks: brief, before: func(r *rig) {
			if _, err := r.Events(r.t.Context(), hub.EventsQuery{Agent: "dev", Since: r.view.Ring.Visible(), Limit: 1}); err != nil {
				r.t.Fatal(err)
			}
		}},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { joinTwice(t, c.before, c.asks) })
		})
	}
}

// joinTwice lets dev join with an invite, twice, after what it did before and what asks it
// something: that is unread then, or nothing where nothing asks.
func joinTwice(t *testing.T, before func(r *rig), asks func(r *rig) hub.MessageID) {
	r := start(t, newMemStore())
	_, invite := r.hall(3, 60, "dev")
	for range 3 {
		r.say("lead", hub.DefaultChannel, "before all")
	}
	if before != nil {
		before(r)
	}
	var first hub.MessageID
	if asks != nil {
		first = asks(r)
	}
	r.say("lead", hub.DefaultChannel, "after all")
	time.Sleep(2 * time.Millisecond) // what came in the same millisecond counts as new
	ctx := withKey(t.Context(), "k", "b")
	if s, _, ok := r.view.Directory.Session("dev"); ok {
		ctx = asSession(ctx, r.secrets().reveal(s).Session)
	}
	for range 2 {
		out, err := r.AcceptInvite(ctx, invite.Code, hub.AcceptInput{AgentID: "dev"})
		if err != nil || out.Row.Live || out.Row.Bootstrap.LatestVisibleID == 0 {
			t.Fatalf("joined %+v, %v", out.Row, err)
		}
		a, err := r.Attention(t.Context(), hub.AttentionQuery{Agent: "dev"})
		switch {
		case err != nil:
			t.Fatal(err)
		case first == 0 && (a.SeenID != out.Row.Bootstrap.LatestVisibleID || len(a.Directed) > 0):
			t.Errorf("seen up to %d of %d, %+v", a.SeenID, out.Row.Bootstrap.LatestVisibleID, a.Directed)
		case first > 0 && (len(a.Directed) != 1 || a.Directed[0].ID != first || a.SeenID >= first):
			t.Errorf("seen up to %d, unread %+v, want %d", a.SeenID, a.Directed, first)
		}
	}
}

// A join without proof, under the name of a live agent with a seat, does not
// move that agent's cursor.
func TestJoinWithoutProofMovesNoCursor(t *testing.T) {
	r := start(t, newMemStore())
	_, invite := r.hall(3, 60, "dev")
	if _, err := r.AcceptInvite(t.Context(), invite.Code, hub.AcceptInput{AgentID: "dev"}); err != nil {
		t.Fatal(err)
	}
	r.say("lead", hub.DefaultChannel, "for all")
	before := r.view.Seen.Of("dev").All
	out, err := r.AcceptInvite(t.Context(), invite.Code, hub.AcceptInput{AgentID: "dev"})
	if err != nil || !out.Row.Live {
		t.Fatalf("%+v, %v", out.Row, err)
	}
	if after := r.view.Seen.Of("dev").All; after != before {
		t.Errorf("seen up to %d, was %d", after, before)
	}
}
