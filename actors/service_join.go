package actors

import (
	"cmp"
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxMoves bounds how often a seat gets another name because another agent took
// the name meanwhile.
const maxMoves = 16

// AcceptInvite seats an agent in the invite's room and registers it; see hub.Invites.
// It is a process of two steps. Each is one command to one owner, and its answer is
// stored in the same record as its effect:
//
//  1. takeSeat: the room gives the seat, under the caller's idempotency key.
//  2. joinSession: the agent begins a session, under a step key (engine.StepKey) of the
//     seat. If the hub chose the name, and another agent has taken it since, the room
//     first gives the seat another name.
//
// If the hub ends between them, the same call with the same key finds the seat
// and takes the second step. A call without a key cannot be repeated: its seat
// stays without a session, and the room frees it like the seats of agents that
// are gone.
func (h *Hub) AcceptInvite(ctx context.Context, code string, in hub.AcceptInput) (hub.Outcome[hub.Joined], error) {
	got, replayed, err := h.takeSeat(ctx, code, in)
	if err != nil {
		return hub.Outcome[hub.Joined]{}, err
	}
	room, project, err := h.placeOf(got.Seat.RoomID)
	if err != nil {
		return hub.Outcome[hub.Joined]{}, err
	}
	session, err := h.joined(ctx, &got, in, replayed)
	if err != nil {
		return hub.Outcome[hub.Joined]{}, err
	}
	joined := hub.Joined{Session: session.Session, ResumeKey: session.ResumeKey, Live: session.ResumeKey == "", Room: room, Project: project}
	if got.Seat.AgentID != got.Wanted {
		joined.Requested = got.Wanted
	}
	if joined.Bootstrap, err = h.bootstrap(ctx, got.Seat.AgentID); err != nil {
		return hub.Outcome[hub.Joined]{}, err
	}
	if !joined.Live { // for a live agent the seen mark stays as it is
		if err := h.view.NoteJoin(ctx, got.Seat.AgentID, joined.Bootstrap.LatestVisibleID); err != nil {
			return hub.Outcome[hub.Joined]{}, err
		}
	}
	joined.Seat, err = h.joinedSeat(got.Seat, session.SessionID.Public())
	return hub.Outcome[hub.Joined]{Row: joined, Created: true, Replayed: replayed}, err
}

// joinedSeat shows the seat of an agent that has just joined.
func (h *Hub) joinedSeat(s core.StoredSeat, session hub.SessionID) (hub.Seat, error) {
	now := h.engine.Clock.Now().Wall
	row := hub.Seat{
		SeatID: s.SeatID, RoomID: s.RoomID, AgentID: s.AgentID, Role: s.Role, Harness: s.Harness, JoinedAt: s.JoinedAt,
		SessionID: &session, Presence: hub.PresenceLive, Activity: hub.ActivityWorking,
		ActivitySince: &now, LastSeen: &now, Watching: []string{}, Listener: hub.ListenerNone, SpawnID: core.Optional(s.SpawnID),
	}
	var err error
	row.Unread, err = h.view.Unread(s.AgentID, s.RoomID)
	return row, err
}

// takeSeat is the first step; the room decides it.
func (h *Hub) takeSeat(ctx context.Context, code string, in hub.AcceptInput) (core.Accepted, bool, error) {
	caller := hub.CallerOf(ctx)
	var invite core.StoredInvite
	var known bool
	act := gate.Act{Op: "acceptInvite", Agent: in.AgentID}
	got, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[core.Accepted](engine.EffectJoined), func() (c engine.Command[*core.Room, core.Accepted, core.Accepted], err error) {
		if invite, err = h.inviteOf(code); err == nil {
			known, err = h.view.MayBe(caller, in.AgentID)
		}
		act.Room = invite.RoomID
		command := core.AcceptCommand{
			Invite: invite.InviteID, Agent: in.AgentID, Wanted: suggestedName(&invite),
			Known: known, Harness: in.Harness, Taken: h.view.TakenBy(caller, in.AgentID),
			Gone: func(agent hub.AgentID) bool { _, _, live := h.view.Directory.Session(agent); return !live },
			Standing: func(maker hub.AgentID, proved bool) core.Standing {
				return h.view.StandingOfMaker(maker, proved, h.engine.Clock.Now().Wall)
			},
		}
		return engine.Command[*core.Room, core.Accepted, core.Accepted]{
			Owner: core.RoomOwner(invite.RoomID), Answer: asDecided[core.Accepted],
			Decide: func(r *core.Room, now core.Now) (core.Decision[core.Accepted], error) { return r.Accept(command, now) },
		}, err
	})
	switch {
	case errors.Is(err, core.ErrNotLive):
		agent := in.AgentID
		if !known {
			agent = ""
		}
		got, err = h.refusedInvite(invite.InviteID, agent)
	case errors.Is(err, &hub.Error{Code: hub.CodeInviteExpired}):
		if failed := h.expireInvites(invite.RoomID); failed != nil {
			err = failed
		}
	}
	return got, replayed, err
}

// joined takes the second step, unless the call took it before. A seat that was given up since
// then is answered as it was.
func (h *Hub) joined(ctx context.Context, got *core.Accepted, in hub.AcceptInput, replayed bool) (hub.Registered, error) {
	if replayed {
		now, err := h.seatNow(got.Seat)
		if errors.Is(err, errSeatLost(got.Seat.SeatID)) {
			step := joinStep(ctx, got.Seat.SeatID)
			act := gate.Act{Op: "acceptInvite", Agent: got.Seat.AgentID, Caller: &step}
			if session, done, failed := gate.Answered(ctx, h.gate, &act, h.sessionCodec()); failed != nil || done {
				return session, failed
			}
		}
		if err != nil {
			return hub.Registered{}, err
		}
		got.Seat = now
	}
	return h.joinSession(ctx, got, in)
}

// joinStep is the caller of the second step.
func joinStep(ctx context.Context, seat hub.SeatID) hub.Caller {
	return hub.Caller{Idempotency: engine.StepKey(hub.CallerOf(ctx).Idempotency, "join\x00"+string(seat))}
}

// joinSession is the second step; the agent's owner decides it. A live agent
// keeps its session. A caller that proved this session gets the whole row. A
// caller that asked for the agent's name, or came through the agent's spool,
// gets the public row. If the hub chose the name, the seat gets another name
// instead.
func (h *Hub) joinSession(ctx context.Context, got *core.Accepted, in hub.AcceptInput) (hub.Registered, error) {
	caller := hub.CallerOf(ctx)
	step := joinStep(ctx, got.Seat.SeatID)
	for range maxMoves {
		agent := got.Seat.AgentID
		if live, _, ok := h.view.Directory.Session(agent); ok && view.Proves(caller, agent) {
			return h.secrets().reveal(live), nil
		}
		keep := false
		out, err := h.register(ctx, step, hub.RegisterInput{
			AgentID: agent, DisplayName: in.DisplayName, Capabilities: in.Capabilities, Replace: &keep,
		})
		switch {
		case err == nil:
			return out.Row, nil
		case !errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}):
			return hub.Registered{}, err
		case agent == in.AgentID:
			if live, _, ok := h.view.Directory.Session(agent); ok {
				return hub.Registered{Session: live}, nil
			}
			continue // its session has just ended
		}
		if got.Seat, err = h.moveSeat(ctx, got); err != nil {
			return hub.Registered{}, err
		}
	}
	return hub.Registered{}, engine.ErrOverloaded()
}

// seatNow returns the seat as it is now: it may have been given another name.
func (h *Hub) seatNow(seat core.StoredSeat) (core.StoredSeat, error) {
	now, err := h.view.SeatOf(seat.RoomID, seat.AgentID)
	if err == nil && now.SeatID == seat.SeatID || err != nil && !errors.Is(err, core.ErrNotFound) {
		return now, err
	}
	all, err := h.view.SeatsOf(seat.RoomID)
	if err != nil {
		return seat, err
	}
	for _, s := range all {
		if s.SeatID == seat.SeatID {
			return s, nil
		}
	}
	return seat, errSeatLost(seat.SeatID)
}

func errSeatLost(id hub.SeatID) error {
	return hub.NewError(hub.CodeRoomFull, "the seat was given to another agent, because its own agent was gone").
		With("seat_id", id).WithFix("ask for a new invite, and send it under a new idempotency key")
}

// moveSeat gives a seat another name, or finds the name that it already got.
func (h *Hub) moveSeat(ctx context.Context, got *core.Accepted) (core.StoredSeat, error) {
	seat := got.Seat
	taken := h.view.TakenBy(hub.CallerOf(ctx), "")
	row, _, err := engine.Submit(ctx, h.engine, engine.Command[*core.Room, core.StoredSeat, core.StoredSeat]{
		Owner: core.RoomOwner(seat.RoomID), Caller: &hub.Caller{},
		Decide: func(r *core.Room, _ core.Now) (core.Decision[core.StoredSeat], error) {
			return r.Move(seat.SeatID, seat.AgentID, cmp.Or(got.Wanted, seat.AgentID), taken)
		},
		Answer: func(s core.StoredSeat, _ *core.Record) core.StoredSeat { return s },
	})
	if errors.Is(err, core.ErrNotLive) {
		err = errSeatLost(seat.SeatID)
	}
	return row, err
}

// suggestedName returns a name for an agent that asks for none.
func suggestedName(invite *core.StoredInvite) hub.AgentID {
	if invite.Handle != "" {
		return invite.Handle
	}
	name := hub.SuggestAgentID(invite.Role)
	if hub.CheckAgentID("role", name) != nil || name.Reserved() || name.Watcher() {
		return "agent"
	}
	return name
}
