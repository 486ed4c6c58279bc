package actors

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) live(agent hub.AgentID) (hub.Session, bool) {
	s, _, ok := r.view.Directory.Session(agent)
	return s, ok
}

// idleLimit is when a session that is silent from now on has ended for sure.
const idleLimit = hub.SessionIdleAfter + presenceTick

func TestSessionEndsOfSilence(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		time.Sleep(hub.SessionIdleAfter - presenceTick)
		synctest.Wait()
		if _, ok := r.live("ann"); !ok {
			t.Fatal("ended early")
		}
		r.Touch("ann", false)
		time.Sleep(hub.SessionIdleAfter - presenceTick)
		synctest.Wait()
		if _, ok := r.live("ann"); !ok {
			t.Fatal("ended although the agent has called")
		}
		time.Sleep(2 * presenceTick)
		synctest.Wait()
		if _, ok := r.live("ann"); ok {
			t.Fatal("still live")
		}
		if ends := journaled[*core.SessionEnded](r.store); len(ends) != 1 || ends[0].Reason != core.EndedIdle {
			t.Errorf("ends %+v", ends)
		}
	})
}

// The end of a session ends no lease.
func TestPresenceNeverEndsLease(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		r.claim("ann", "k", 3600)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if _, ok := r.live("ann"); ok || r.holder("k") != "ann" {
			t.Errorf("live %v, k held by %q; want ended and ann", ok, r.holder("k"))
		}
	})
}

// A parked poll is presence until it ends: the silence begins then.
func TestParkedPollIsPresence(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		for range 4 {
			if _, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ann", Limit: 10, Wait: hub.MaxPollWait}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(hub.SessionIdleAfter - presenceTick)
		synctest.Wait()
		if _, ok := r.live("ann"); !ok {
			t.Error("ended less than the limit after the last poll")
		}
		time.Sleep(2 * presenceTick)
		synctest.Wait()
		if _, ok := r.live("ann"); ok {
			t.Error("still live")
		}
	})
}

// A session that ended of silence revives with a plain call of its agent and
// with its header; one that was closed does not.
func TestIdleSessionRevives(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.Touch("ann", false) // before she has a session; must not be remembered for ever
		s := r.register("ann")
		for name, call := range map[string]func(){
			"plain call": func() { r.Touch("ann", false) },
			"header": func() {
				if c, err := r.Authenticate(t.Context(), s.SessionID); err != nil || c.Agent != "ann" || c.Incarnation != 1 {
					t.Errorf("Authenticate: %+v, %v", c, err)
				}
			},
		} {
			time.Sleep(idleLimit)
			synctest.Wait()
			if _, ok := r.live("ann"); ok {
				t.Fatal("still live")
			}
			call()
			if got, ok := r.live("ann"); !ok || got.SessionID != s.SessionID.Public() || got.Incarnation != 1 {
				t.Errorf("%s: session %+v, %v", name, got, ok)
			}
		}
		if _, err := r.CloseSession(t.Context(), s.SessionID, ""); err != nil {
			t.Fatalf("close: %v", err)
		}
		r.Touch("ann", false)
		if _, ok := r.live("ann"); ok {
			t.Error("a closed session revived with a plain call")
		}
		_, err := r.Authenticate(t.Context(), s.SessionID)
		wantCode(t, err, hub.CodeSessionInvalid)
		_, err = r.CloseSession(t.Context(), s.SessionID, "")
		wantCode(t, err, hub.CodeSessionNotFound)
	})
}

// A call that comes while the agent registers must not make the hub believe that
// there is nothing to revive.
func TestRevivalIsNotForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.register("ann")
		r.Hub.idle.remember("ann", 0) // what such a call leaves behind
		time.Sleep(idleLimit)
		synctest.Wait()
		r.Touch("ann", false)
		if _, ok := r.live("ann"); !ok {
			t.Error("did not revive")
		}
	})
}

// After a start everybody counts as just seen.
func TestEverybodyIsJustSeenAfterStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		s := r.register("ann")
		time.Sleep(hub.SessionIdleAfter - presenceTick)
		r.stop()
		time.Sleep(time.Hour)
		r = start(t, store)
		time.Sleep(hub.SessionIdleAfter - presenceTick)
		synctest.Wait()
		if got, ok := r.live("ann"); !ok || got.SessionID != s.SessionID.Public() {
			t.Error("ended by the time in which no hub ran")
		}
		r.stop()
	})
}

// A registration displaces the live session: its parked calls that sent the
// header answer session_replaced, those that did not go on.
func TestReplaceEndsParkedCallsOfTheDisplaced(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		first := r.register("ann")
		poll := func(ctx context.Context) <-chan result[hub.Page] {
			return async(func() (hub.Page, error) {
				return r.Events(ctx, hub.EventsQuery{Agent: "ann", Limit: 10, Wait: time.Minute})
			})
		}
		proved, plain := poll(asSession(t.Context(), first.Session)), poll(t.Context())
		synctest.Wait()
		begun := time.Now()
		second := r.register("ann")
		synctest.Wait()
		wantCode(t, (<-proved).err, hub.CodeSessionReplaced)
		if time.Since(begun) != 0 {
			t.Errorf("answered after %v", time.Since(begun))
		}
		parked(t, plain)
		_, err := r.Authenticate(t.Context(), first.SessionID)
		wantCode(t, err, hub.CodeSessionReplaced)
		if c, err := r.Authenticate(t.Context(), second.SessionID); err != nil || c.Incarnation != 2 {
			t.Errorf("the new session: %+v, %v", c, err)
		}
		_, err = r.Events(asSession(t.Context(), first.Session), hub.EventsQuery{Agent: "ann", Limit: 10, Wait: time.Minute})
		wantCode(t, err, hub.CodeSessionReplaced)
		if p := <-plain; p.err != nil || len(p.v.Rows) != 0 {
			t.Errorf("plain poll: %+v", p)
		}
	})
}

// A write that the displacement of its session overtook is refused by the sequencer
// and changes nothing.
func TestRacingWriteOfDisplacedSessionIsRefused(t *testing.T) {
	r := start(t, newMemStore())
	first := r.register("ann")
	r.register("bob")
	ctx := asSession(t.Context(), first.Session) // proved before the displacement
	r.register("ann")
	before := r.store.Head()
	_, err := r.tryPost(withKey(ctx, "k", "b"), hub.PostInput{FromAgent: "ann", Body: "late"})
	wantCode(t, err, hub.CodeSessionReplaced)
	_, err = r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 60})
	wantCode(t, err, hub.CodeSessionReplaced)
	_, err = r.tryPost(ctx, hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "late"})
	wantCode(t, err, hub.CodeSessionReplaced)
	if got := r.store.Head(); got != before {
		t.Errorf("the journal moved from %+v to %+v", before, got)
	}
	if r.holder("k") != "" || r.Counts().OpenTasks != 0 {
		t.Error("something changed")
	}
	r.idle()
}

func TestRegisterWithoutReplace(t *testing.T) {
	r := start(t, newMemStore())
	no := false
	first := r.register("ann")
	_, err := r.Register(t.Context(), hub.RegisterInput{AgentID: "ann", Replace: &no})
	wantCode(t, err, hub.CodeSessionConflict)
	if _, err := r.CloseSession(t.Context(), first.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	out, err := r.Register(t.Context(), hub.RegisterInput{AgentID: "ann", Replace: &no})
	if err != nil || out.Row.Incarnation != 2 || out.Row.SessionID == first.SessionID || out.Row.ResumeKey == first.ResumeKey {
		t.Errorf("second registration %+v, %v", out.Row, err)
	}
}

// Resume takes the latest key, and the one before until the new session's first
// call; every resume makes a new session and key.
func TestResumeRotatesTheKey(t *testing.T) {
	r := start(t, newMemStore())
	ctx := t.Context()
	resume := func(s hub.Registered) (hub.Registered, error) {
		out, err := r.Resume(ctx, hub.ResumeInput{PriorSessionID: s.SessionID.Public(), ResumeKey: s.ResumeKey})
		return out.Row, err
	}
	first := r.register("ann")
	second, err := resume(first)
	if err != nil || second.SessionID == first.SessionID || second.ResumeKey == first.ResumeKey || second.Incarnation != 2 {
		t.Fatalf("resume: %+v, %v", second, err)
	}
	lost, err := resume(first) // the answer was lost: the old key is still good
	if err != nil || lost.Incarnation != 3 {
		t.Fatalf("resume with the key before the first call: %+v, %v", lost, err)
	}
	if _, err := r.Authenticate(ctx, lost.SessionID); err != nil { // the first call
		t.Fatal(err)
	}
	_, err = resume(first)
	wantCode(t, err, hub.CodeResumeDenied)
	_, err = resume(second)
	wantCode(t, err, hub.CodeResumeDenied)
	wrong := lost
	wrong.ResumeKey = first.ResumeKey
	_, err = resume(wrong)
	wantCode(t, err, hub.CodeResumeDenied)
	_, err = resume(hub.Registered{Session: hub.Session{SessionID: "s999"}, ResumeKey: r.secrets().mac("resume", "s999")})
	wantCode(t, err, hub.CodeResumeDenied)
	if last, err := resume(lost); err != nil || last.Incarnation != 4 {
		t.Errorf("resume with the latest key: %+v, %v", last, err)
	}
}

// Session ids are secrets: a public or forged one proves nothing.
func TestForgedSessionProvesNothing(t *testing.T) {
	r := start(t, newMemStore())
	s := r.register("ann")
	for _, id := range []hub.SessionID{"", ".", s.SessionID.Public(), s.SessionID.Public() + ".", s.SessionID + "x", s.SessionID[:len(s.SessionID)-1], "s1.AAAAAAAAAAAAAAAAAAAAAA"} {
		_, err := r.Authenticate(t.Context(), id)
		wantCode(t, err, hub.CodeSessionInvalid)
		_, err = r.CloseSession(t.Context(), id, "")
		wantCode(t, err, hub.CodeSessionNotFound)
	}
	if _, err := r.CloseSession(asOperator(t.Context()), s.SessionID.Public(), ""); err != nil {
		t.Errorf("the operator closes by the public form: %v", err)
	}
}

// Sessions, their ends and their keys outlive a crash.
func TestSessionsOutliveCrash(t *testing.T) {
	r := start(t, newMemStore())
	ann, bob, eve := r.register("ann"), r.register("bob"), r.register("eve")
	if _, err := r.CloseSession(t.Context(), bob.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	eve2, err := r.Resume(t.Context(), hub.ResumeInput{PriorSessionID: eve.SessionID, ResumeKey: eve.ResumeKey})
	require.NoError(t, err)
	r = start(t, r.crash())
	if c, err := r.Authenticate(t.Context(), ann.SessionID); err != nil || c.Agent != "ann" {
		t.Errorf("ann: %+v, %v", c, err)
	}
	_, err = r.Authenticate(t.Context(), bob.SessionID)
	wantCode(t, err, hub.CodeSessionInvalid)
	_, err = r.Authenticate(t.Context(), eve.SessionID)
	wantCode(t, err, hub.CodeSessionReplaced)
	if _, prior, _ := r.view.Directory.Session("eve"); !prior {
		t.Error("the key of eve's earlier session is retired without a call")
	}
	if _, err := r.Authenticate(t.Context(), eve2.Row.SessionID); err != nil {
		t.Errorf("eve: %v", err)
	}
	if _, prior, _ := r.view.Directory.Session("eve"); prior {
		t.Error("eve's first call did not retire the key of the session before")
	}
}

// TestSuccessors: messages and tasks for an agent that has gone on under another
// id go to that one, also after a crash, until an agent begins a session under
// the old id again.
func TestSuccessors(t *testing.T) {
	r := start(t, newMemStore())
	r.register("lead")
	old := r.register("impl")
	r.register("ann")
	if _, err := r.CloseSession(t.Context(), old.SessionID, "ann"); err != nil {
		t.Fatal(err)
	}
	to := func(asked hub.AgentID) hub.AgentID {
		t.Helper()
		out, err := r.Post(t.Context(), hub.PostInput{FromAgent: "lead", ToAgent: asked, Kind: hub.KindChat, Body: "hi"})
		require.NoError(t, err)
		row, err := out.Row.Decode()
		require.NoError(t, err)
		return *row.ToAgent
	}
	if got := to("impl"); got != "ann" {
		t.Errorf("a message for impl went to %s", got)
	}
	r = start(t, r.crash())
	if got := to("impl"); got != "ann" {
		t.Errorf("after a crash, a message for impl went to %s", got)
	}
	task := r.task(hub.PostInput{FromAgent: "lead", Kind: hub.KindTask, Channel: hub.DefaultChannel, Body: "build"})
	offered, err := r.HandoffTask(t.Context(), task, hub.HandoffInput{AgentID: "lead", ToAgent: "impl"})
	require.NoError(t, err)
	if got := offered.Row.OfferedTo; got == nil || *got != "ann" {
		t.Errorf("a task for impl was offered to %v", got)
	}
	// A chain is followed, and a ring ends at the id that was named.
	for _, step := range [][2]hub.AgentID{{"ann", "bea"}, {"bea", "cid"}} {
		s := r.register(step[0])
		if _, err := r.CloseSession(t.Context(), s.SessionID, step[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := to("impl"); got != "cid" {
		t.Errorf("by a chain, a message for impl went to %s", got)
	}
	cid := r.register("cid")
	if _, err := r.CloseSession(t.Context(), cid.SessionID, "impl"); err != nil {
		t.Fatal(err)
	}
	if got := to("bea"); got != "bea" {
		t.Errorf("in a ring, a message for bea went to %s", got)
	}
	impl := r.register("impl")
	if got := to("impl"); got != "impl" {
		t.Errorf("a message for impl, who is back, went to %s", got)
	}
	_, err = r.CloseSession(t.Context(), impl.SessionID, "impl")
	wantCode(t, err, hub.CodeInvalid)
}

// TestWordsForSeveralAgents: no agent is called all, and no message goes to all
// as if that were one.
func TestWordsForSeveralAgents(t *testing.T) {
	for _, id := range []hub.AgentID{"all", "Everyone", "TEAM"} {
		wantCode(t, hub.CheckSender("agent_id", id), hub.CodeReservedAgent)
		wantCode(t, hub.CheckRecipient("to_agent", id), hub.CodeInvalid)
	}
	if err := hub.CheckRecipient("to_agent", "team-1"); err != nil {
		t.Error(err)
	}
}

// TestEndedSessionIsNotResumed: the key of a session that the operator has ended does not
// bring the agent back, also after a restart, and says why. An agent that registers anew comes back.
func TestEndedSessionIsNotResumed(t *testing.T) {
	r := start(t, newMemStore())
	ann := r.register("ann")
	if _, err := r.EndSession(asOperator(t.Context()), "ann", hub.SessionEndInput{Reason: "you delete the wrong files"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := r.Resume(t.Context(), hub.ResumeInput{PriorSessionID: ann.SessionID, ResumeKey: ann.ResumeKey})
		wantCode(t, err, hub.CodeSessionEnded)
		if !strings.Contains(err.Error(), "you delete the wrong files") {
			t.Errorf("it does not say why: %v", err)
		}
		r = start(t, r.crash())
	}
	_, err := r.Register(t.Context(), hub.RegisterInput{AgentID: "ann", UnlessEnded: true})
	wantCode(t, err, hub.CodeSessionEnded)
	again := r.register("ann")
	if _, err := r.Authenticate(t.Context(), again.SessionID); err != nil {
		t.Errorf("registered anew: %v", err)
	}
	if _, err := r.Resume(t.Context(), hub.ResumeInput{PriorSessionID: again.SessionID, ResumeKey: again.ResumeKey}); err != nil {
		t.Errorf("the next session: %v", err)
	}
	if _, err := r.Register(t.Context(), hub.RegisterInput{AgentID: "ann", UnlessEnded: true}); err != nil {
		t.Errorf("an agent that has come back: %v", err)
	}
}
