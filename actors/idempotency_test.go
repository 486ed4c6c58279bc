package actors

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// everyWrite returns one call of each method that writes; each call can be
// repeated.
func everyWrite(t *testing.T, r *rig) map[string]func(context.Context, *rig) (any, bool, error) {
	t.Helper()
	s := r.register("ann")
	doomed := r.register("doomed")
	r.claim("ann", "held", 600)
	r.claim("ann", "released", 600)
	open := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "open"})
	parent := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "parent"})
	child := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTaskRequest, Body: "child", ParentTaskID: parent.ID})
	done := r.post(hub.PostInput{FromAgent: "ann", Kind: hub.KindTask, Body: "done"})
	working := hub.TaskWorking
	post := func(in hub.PostInput) func(context.Context, *rig) (any, bool, error) {
		return func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Post(ctx, in)
			return string(out.Row), out.Replayed, err
		}
	}
	return map[string]func(context.Context, *rig) (any, bool, error){
		"post":   post(hub.PostInput{FromAgent: "ann", Channel: "general", Kind: hub.KindChat, Body: "x"}),
		"direct": post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Channel: "direct", Kind: hub.KindChat, Body: "x"}),
		"task":   post(hub.PostInput{FromAgent: "ann", Channel: "general", Kind: hub.KindTask, Body: "x"}),
		"result": post(hub.PostInput{FromAgent: "bob", Channel: "general", Kind: hub.KindTaskResult, Body: "x", ReplyTo: child.ID}),
		"register": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Register(ctx, hub.RegisterInput{AgentID: "new"})
			return out.Row, out.Replayed, err
		},
		"resume": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Resume(ctx, hub.ResumeInput{PriorSessionID: s.SessionID, ResumeKey: s.ResumeKey})
			return out.Row, out.Replayed, err
		},
		"rename": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Rename(ctx, "ann", hub.RenameInput{DisplayName: "Ann"})
			return out.Row, out.Replayed, err
		},
		"close": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.CloseSession(ctx, doomed.SessionID, "")
			return out.Row, out.Replayed, err
		},
		"channel": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.CreateChannel(ctx, hub.ChannelInput{Name: "c", CreatedBy: "ann"})
			return out.Row, out.Replayed, err
		},
		"claim": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Claim(ctx, hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 600})
			return []any{out.Row.Fence, out.Row.OwnerAgentID, out.Acquired, out.Created}, out.Replayed, err
		},
		"lock": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.Lock(ctx, hub.LockInput{AgentID: "ann", FilePath: "/f", TTLSec: 600})
			return []any{out.Row.Fence, out.Row.AgentID, out.Acquired, out.Created}, out.Replayed, err
		},
		"refresh": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.RefreshClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: "ann", ClaimKey: "held", TTLSec: 900})
			return []any{out.Row.Fence, out.Acquired}, out.Replayed, err
		},
		"release": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: "ann", ClaimKey: "released"})
			return []any{out.Row.Fence, out.Row.ReleasedAt != nil}, out.Replayed, err
		},
		"complete": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.CompleteTask(ctx, done.ID, hub.CompleteInput{AgentID: "bob", Note: "n"})
			return out.Row, out.Replayed, err
		},
		"update": func(ctx context.Context, r *rig) (any, bool, error) {
			out, err := r.UpdateTask(ctx, open.ID, hub.TaskUpdateInput{AgentID: "bob", Status: &working})
			return out.Row, out.Replayed, err
		},
	}
}

// A repeated call with the same key and body has no second effect and gets the
// same answer, including secrets, also after a crash. Another body is refused.
func TestIdempotentWriteHappensOnce(t *testing.T) {
	r := start(t, newMemStore())
	writes := everyWrite(t, r)
	answers := map[string]any{}
	for name, call := range writes {
		first, replayed, err := call(withKey(t.Context(), name, "body"), r)
		if err != nil || replayed {
			t.Fatalf("%s: %v, replayed %v", name, err, replayed)
		}
		answers[name] = first
	}
	for _, when := range []string{"again", "after a crash"} {
		before := r.store.Head()
		for name, call := range writes {
			got, replayed, err := call(withKey(t.Context(), name, "body"), r)
			if err != nil || !replayed || !reflect.DeepEqual(got, answers[name]) {
				t.Errorf("%s %s: %v, replayed %v\n got %+v\nwant %+v", name, when, err, replayed, got, answers[name])
			}
			if name != "resume" { // its resume key may be used up, and then refuses the call first
				_, _, err = call(withKey(t.Context(), name, "another"), r)
				wantCode(t, err, hub.CodeIdempotencyConflict)
			}
		}
		if r.store.Head() != before {
			t.Errorf("%s: the journal moved", when)
		}
		r = start(t, r.crash())
	}
	for _, e := range r.store.disk.effects {
		for name, a := range answers {
			if s, ok := a.(hub.Registered); ok && (bytes.Contains(e.Answer, []byte(s.ResumeKey)) || bytes.Contains(e.Answer, []byte(s.SessionID))) {
				t.Errorf("the stored answer of %s holds a secret", name)
			}
		}
	}
}

// The scope of a key is agent, method, path and key; the operator's keys have a
// scope of their own.
func TestIdempotencyScope(t *testing.T) {
	r := start(t, newMemStore())
	post := func(ctx context.Context, from hub.AgentID) hub.MessageID {
		m, err := r.tryPost(ctx, hub.PostInput{FromAgent: from, Body: "x"})
		require.NoError(t, err)
		return m.ID
	}
	base := withKey(t.Context(), "k", "b")
	other := func(change func(*hub.IdempotencyKey)) context.Context {
		c := *hub.CallerOf(base)
		k := *c.Idempotency
		change(&k)
		c.Idempotency = &k
		return hub.WithCaller(t.Context(), &c)
	}
	ids := map[hub.MessageID]bool{}
	for _, id := range []hub.MessageID{
		post(base, "ann"), post(base, "bob"), post(withKey(asOperator(t.Context()), "k", "b"), "ann"),
		post(other(func(k *hub.IdempotencyKey) { k.Path = "/v1/y" }), "ann"),
		post(other(func(k *hub.IdempotencyKey) { k.Method = "PUT" }), "ann"),
		post(other(func(k *hub.IdempotencyKey) { k.Key = "k2" }), "ann"),
	} {
		ids[id] = true
	}
	if len(ids) != 6 {
		t.Errorf("6 scopes gave %d messages", len(ids))
	}
	if id := post(base, "ann"); !ids[id] {
		t.Error("the first scope's answer was not kept")
	}
}

// A call with the key of a call under way is answered in_progress. Afterward it
// gets the answer of that call.
func TestIdempotencyKeyInProgress(t *testing.T) {
	r := start(t, newMemStore())
	gate := make(chan struct{})
	r.store.setGate(gate)
	in := hub.PostInput{FromAgent: "ann", Body: "x"}
	first := async(func() (hub.Message, error) { return r.tryPost(withKey(t.Context(), "k", "b"), in) })
	for { // until the first call holds the key
		if _, _, held := r.engine.Underway(); held == 1 {
			break
		}
	}
	_, err := r.tryPost(withKey(t.Context(), "k", "b"), in)
	wantCode(t, err, hub.CodeInProgress)
	close(gate)
	got := within(t, first)
	again, err := r.tryPost(withKey(t.Context(), "k", "b"), in)
	if got.err != nil || err != nil || again.ID != got.v.ID {
		t.Errorf("first %+v, again %+v, %v", got, again, err)
	}
}

// A refusal is not stored: its key stays free, also for another body.
func TestRefusalIsNotStored(t *testing.T) {
	r := start(t, newMemStore())
	hold := hub.ClaimHoldInput{AgentID: "ann", ClaimKey: "k"}
	_, err := r.ReleaseClaim(withKey(t.Context(), "k", "b"), hold)
	wantCode(t, err, hub.CodeNotHolder)
	r.claim("ann", "k", 60)
	if out, err := r.ReleaseClaim(withKey(t.Context(), "k", "other"), hold); err != nil || out.Replayed {
		t.Errorf("after the refusal: %+v, %v", out, err)
	}
	// An answer without effect is not stored either: here bob holds the lease.
	r.claim("bob", "k2", 60)
	in := hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k2", TTLSec: 60}
	if g, err := r.Claim(withKey(t.Context(), "c", "b"), in); err != nil || g.Acquired {
		t.Fatalf("%+v, %v", g, err)
	}
	r.release("bob", "k2")
	if g, err := r.Claim(withKey(t.Context(), "c", "b"), in); err != nil || !g.Acquired || g.Replayed {
		t.Errorf("the same call once the lease is free: %+v, %v", g, err)
	}
	if _, _, held := r.engine.Underway(); held != 0 {
		t.Errorf("%d keys are still held", held)
	}
}

// A replayed answer about a lease shows the current row.
func TestReplayOfLeaseShowsTheCurrentRow(t *testing.T) {
	r := start(t, newMemStore())
	in := hub.ClaimInput{OwnerAgentID: "ann", ClaimKey: "k", TTLSec: 60}
	if _, err := r.Claim(withKey(t.Context(), "c", "b"), in); err != nil {
		t.Fatal(err)
	}
	r.release("ann", "k")
	r.claim("bob", "k", 60)
	g, err := r.Claim(withKey(t.Context(), "c", "b"), in)
	if err != nil || !g.Replayed || g.Row.OwnerAgentID != "bob" || g.Row.Fence != 2 {
		t.Errorf("replay %+v, %v; want bob's row", g, err)
	}
	if g.Acquired {
		t.Error("the replay says that ann holds the lease of bob")
	}
}

// TestRepetitionIsAnsweredThoughTheTaskIsGone: an agent that saw a direct message for its task
// alone does not see it once the task is given to another agent. What it said and claimed before
// is still answered to its key, also after a crash; a call with a new key is refused.
func TestRepetitionIsAnsweredThoughTheTaskIsGone(t *testing.T) {
	r := start(t, newMemStore())
	id := r.post(hub.PostInput{FromAgent: "lead", ToAgent: "ann", Kind: hub.KindTask, Body: "round half up"}).ID
	_, err := r.HandoffTask(t.Context(), id, hub.HandoffInput{AgentID: "ann", ToAgent: "bob"})
	require.NoError(t, err)
	said := hub.PostInput{FromAgent: "bob", ToAgent: "ann", ReplyTo: id, Body: "I look at it"}
	claimed := hub.ClaimInput{OwnerAgentID: "bob", TaskMessageID: id, TTLSec: 3600}
	post, err := r.tryPost(withKey(t.Context(), "post", "body"), said)
	require.NoError(t, err)
	grant, err := r.Claim(withKey(t.Context(), "claim", "body"), claimed)
	require.NoError(t, err)
	_, err = r.DeclineTask(t.Context(), id, hub.OfferInput{AgentID: "bob"})
	require.NoError(t, err)
	check := func(r *rig) {
		t.Helper()
		again, err := r.tryPost(withKey(t.Context(), "post", "body"), said)
		if err != nil || again.ID != post.ID {
			t.Errorf("the repeated post: %+v, %v", again, err)
		}
		held, err := r.Claim(withKey(t.Context(), "claim", "body"), claimed)
		if err != nil || !held.Replayed || held.Row.Fence != grant.Row.Fence {
			t.Errorf("the repeated claim: %+v, %v", held, err)
		}
		_, err = r.tryPost(withKey(t.Context(), "post", "another"), said)
		wantCode(t, err, hub.CodeIdempotencyConflict)
		_, err = r.tryPost(withKey(t.Context(), "new", "body"), said)
		wantCode(t, err, hub.CodeReplyNotFound)
		_, err = r.Claim(withKey(t.Context(), "newer", "body"), claimed)
		wantCode(t, err, hub.CodeTaskNotFound)
	}
	check(r)
	check(start(t, r.crash()))
}
