package mcp

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/mcp/session"
)

// soon makes a bridge look every few milliseconds, as it else does every 40 s.
func soon(b *bridge) { b.link.Beat = 5 * time.Millisecond }

// An agent that says nothing stays live, and that is all: nothing counts as seen,
// and nobody takes it for work.
func TestStayingIsLifeAndNothingElse(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeWith(t, h, nil, soon)
	whoamiLine(me)
	ctx := context.Background()
	if _, err := me.hub.Post(ctx, hub.PostInput{FromAgent: "you", ToAgent: "me", Body: "@me"}); err != nil {
		t.Fatal(err)
	}
	row := func() hub.LiveAgent {
		rows, _, err := me.hub.Agents(ctx, hub.AgentsQuery{})
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		return rows[0]
	}
	seen := row().LastSeen
	require.Eventually(t, "looking is no sign of life", func() bool { return row().LastSeen > seen+20 })
	a, err := me.hub.Attention(ctx, hub.AttentionQuery{Agent: "me"})
	if err != nil || len(a.Directed) != 1 {
		t.Errorf("after looking there is unread %+v, %v", a.Directed, err)
	}
}

func TestStayingHearsOfDisplacement(t *testing.T) {
	h := testhub.Start(t)
	me := bridgeWith(t, h, nil, soon)
	whoamiLine(me)
	if _, err := me.hub.Register(context.Background(), hub.RegisterInput{AgentID: "me"}); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "it does not hear that it is displaced", func() bool { return me.bridge.link.Current() == nil })
	rows, _, err := me.hub.Agents(context.Background(), hub.AgentsQuery{})
	if err != nil || len(rows) != 1 || rows[0].Incarnation != 2 {
		t.Errorf("it fights: %+v, %v", rows, err)
	}
}

// The bridge died within a join: the next one with the slot asks for its answer.
func TestJoinIsFinishedAfterADeath(t *testing.T) {
	for name, heard := range map[string]bool{"before the hub heard of it": false, "after the hub did it": true} {
		t.Run(name, func(t *testing.T) {
			h, root := testhub.Start(t), t.TempDir()
			first := bridgeTo(t, h, slotted(root, "s"))
			whoamiLine(first)
			want := &session.Pending{Code: invite(t, first, "builder"), Key: "join-" + rand.Text()}
			first.end()

			s, err := session.OpenSlot(root, "key-s")
			require.NoError(t, err)
			id, err := s.Load()
			if err == nil {
				id.Pending = want
				err = s.Store(id)
			}
			s.Close()
			require.NoError(t, err)
			if heard {
				ctx := hub.WithCaller(context.Background(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: want.Key}})
				if _, err := first.hub.AcceptInvite(ctx, want.Code, want.Input); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				next := bridgeTo(t, h, slotted(root, "s"))
				if id, _ := whoamiLine(next); id != "builder" {
					t.Errorf("the next bridge is %s", id)
				}
				next.end()
			}
		})
	}
}

// The process died between the answer of a resume and the writing of the slot: the
// old key is good, because the new session has made no call.
func TestResumeIsRepeatedAfterADeath(t *testing.T) {
	h, root := testhub.Start(t), t.TempDir()
	first := bridgeTo(t, h, slotted(root, "s"))
	first.must("hub_join", map[string]any{"agent_id": "joined"}, nil)
	first.end()
	s, err := session.OpenSlot(root, "key-s")
	require.NoError(t, err)
	id, err := s.Load()
	s.Close()
	require.NoError(t, err)
	for range 3 {
		if _, err := first.hub.Resume(context.Background(), hub.ResumeInput{PriorSessionID: id.SessionID, ResumeKey: id.ResumeKey}); err != nil {
			t.Fatal(err)
		}
	}
	next := bridgeTo(t, h, slotted(root, "s"))
	if id, line := whoamiLine(next); id != "joined" || next.bridge.link.Current().Remark != "" {
		t.Errorf("the next bridge is %s: %s", id, line)
	}
}
