package httpapi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	hubclient "hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// inviteOp is one call about the invite; agent counts from 0.
type inviteOp struct {
	kind  string // accept, preview, revoke
	agent int
}

// inviteResult is one answer: an error code, or fields of the row.
type inviteResult struct {
	code  hub.Code
	uses  int // preview
	state hub.InviteState
}

// inviteLaw is the state of an invite in the sequential model: the agents that
// it seated, and whether it was revoked.
type inviteLaw struct {
	seated  uint64 // bit per agent
	uses    int
	revoked bool
}

const joiners, inviteUses = 64, 20

func (m inviteLaw) state() hub.InviteState {
	switch {
	case m.uses == inviteUses:
		return hub.InviteExhausted
	case m.revoked:
		return hub.InviteRevoked
	}
	return hub.InviteActive
}

func (m inviteLaw) step(op inviteOp, got inviteResult) (bool, inviteLaw) {
	seated := m.seated&(1<<op.agent) != 0
	switch state := m.state(); {
	case op.kind == "preview":
		return got.code == "" && got.uses == m.uses && got.state == state, m
	case op.kind == "revoke":
		m.revoked = m.revoked || state == hub.InviteActive
		return got.code == "" && got.state == m.state(), m
	case seated && state != hub.InviteRevoked:
		return got.code == "", m
	case state == hub.InviteExhausted:
		return got.code == hub.CodeInviteExhausted, m
	case state == hub.InviteRevoked:
		return got.code == hub.CodeInviteRevoked, m
	}
	m.seated, m.uses = m.seated|1<<op.agent, m.uses+1
	return got.code == "", m
}

var inviteModel = porcupine.Model{
	Init: func() any { return inviteLaw{} },
	Step: func(state, input, output any) (bool, any) {
		return state.(inviteLaw).step(input.(inviteOp), output.(inviteResult))
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v = %+v", in, out) },
}

// TestInviteIsLinear: 64 agents accept one invite at once, some twice, while
// other calls preview it and, in every second round, revoke it. The answers
// must be explained by some sequential order of the calls.
func TestInviteIsLinear(t *testing.T) {
	h := testhub.Start(t)
	newRoom(newClient(t, h), "p", "R")
	c := hubclient.New(hubclient.Config{BaseURL: h.URL})
	defer c.Close()
	for round := range 4 {
		invite, err := c.CreateInvite(t.Context(), hub.InviteInput{Project: "p", Room: "R", MaxUses: inviteUses})
		require.NoError(t, err)
		var mu sync.Mutex
		var history []porcupine.Operation
		began := time.Now()
		do := func(id int, op inviteOp) {
			call := time.Since(began).Nanoseconds()
			got := askInvite(t, c, invite.Row.Code, round, op)
			mu.Lock()
			defer mu.Unlock()
			history = append(history, porcupine.Operation{ClientId: id, Input: op, Call: call, Output: got, Return: time.Since(began).Nanoseconds()})
		}
		var wg sync.WaitGroup
		for agent := range joiners {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(agent)))
			wg.Go(func() {
				do(agent, inviteOp{"accept", agent})
				switch {
				case agent == 7 && round%2 == 1:
					do(agent, inviteOp{"revoke", agent})
				case rng.IntN(3) == 0:
					do(agent, inviteOp{"accept", agent})
				case rng.IntN(3) == 0:
					do(agent, inviteOp{"preview", agent})
				}
			})
		}
		wg.Wait()
		do(0, inviteOp{"preview", 0})
		switch got := porcupine.CheckOperationsTimeout(inviteModel, history, 30*time.Second); got {
		case porcupine.Illegal:
			t.Errorf("round %d: no invite answers like this: %+v", round, history)
		case porcupine.Unknown:
			t.Logf("round %d: not decided in time", round)
		case porcupine.Ok:
		}
	}
}

func askInvite(t *testing.T, c *hubclient.Client, code string, round int, op inviteOp) (got inviteResult) {
	var err error
	switch op.kind {
	case "accept":
		id := hub.AgentID(fmt.Sprintf("j%d-%d", round, op.agent))
		var out hub.Outcome[hub.Joined]
		if out, err = c.AcceptInvite(t.Context(), code, hub.AcceptInput{AgentID: id}); err == nil && out.Row.Seat.AgentID != id {
			t.Errorf("%s was named %s", id, out.Row.Seat.AgentID)
		}
	case "preview":
		var p hub.InvitePreview
		p, err = c.PreviewInvite(t.Context(), code)
		got.uses, got.state = p.Invite.Uses, p.Invite.State
	case "revoke":
		var out hub.Outcome[hub.Invite]
		out, err = c.RevokeInvite(t.Context(), code)
		got.state = out.Row.State
	}
	var e *hub.Error
	if errors.As(err, &e) {
		got.code = e.Code
	} else if err != nil {
		t.Errorf("%+v: %v", op, err)
	}
	return got
}

// TestJoinersWithoutNamesDiffer: many callers join at once without an id, and
// each gets a different name.
func TestJoinersWithoutNamesDiffer(t *testing.T) {
	h := testhub.Start(t)
	newRoom(newClient(t, h), "p", "R")
	c := hubclient.New(hubclient.Config{BaseURL: h.URL})
	defer c.Close()
	invite, err := c.CreateInvite(t.Context(), hub.InviteInput{Project: "p", Room: "R", Role: "reviewer", MaxUses: joiners})
	require.NoError(t, err)
	var mu sync.Mutex
	names := map[hub.AgentID]bool{}
	var wg sync.WaitGroup
	for range joiners {
		wg.Go(func() {
			out, err := c.AcceptInvite(t.Context(), invite.Row.Code, hub.AcceptInput{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || out.Row.ResumeKey == "" || out.Row.Session.AgentID != out.Row.Seat.AgentID {
				t.Errorf("joined as %+v, %v", out.Row.Seat, err)
			}
			names[out.Row.Seat.AgentID] = true
		})
	}
	wg.Wait()
	if len(names) != joiners {
		t.Errorf("%d joiners have %d names", joiners, len(names))
	}
}
