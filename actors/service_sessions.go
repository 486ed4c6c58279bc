package actors

import (
	"context"
	"errors"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// Register makes a session; see hub.Sessions.
func (h *Hub) Register(ctx context.Context, in hub.RegisterInput) (hub.Outcome[hub.Registered], error) {
	return h.register(ctx, *hub.CallerOf(ctx), in)
}

// register is Register on behalf of a caller.
func (h *Hub) register(ctx context.Context, caller hub.Caller, in hub.RegisterInput) (hub.Outcome[hub.Registered], error) {
	act := gate.Act{Op: "register", Agent: in.AgentID, Caller: &caller}
	return h.begins(ctx, &act, func() error { return h.refuseTwin(in.AgentID) }, func(a *core.Agent, now core.Now) (core.Decision[hub.Session], error) {
		return a.Register(in, now)
	})
}

// refuseTwin refuses a new agent whose id differs from a known one in case alone: mail for the one
// would be taken for mail to the other.
func (h *Hub) refuseTwin(id hub.AgentID) error {
	if row, err := h.view.AgentRow(id); err != nil || row != nil {
		return err
	}
	twin, err := h.view.TwinOf(id)
	if err != nil || twin == "" {
		return err
	}
	return hub.Errorf(hub.CodeSessionConflict, "agent %s is new, and its id differs from that of agent %s in case alone", id, twin).
		With("agent_id", twin).WithFix("use " + string(twin) + " if that is meant, or an id of another spelling")
}

// Resume makes a session of the prior session's agent; see hub.Sessions.
func (h *Hub) Resume(ctx context.Context, in hub.ResumeInput) (hub.Outcome[hub.Registered], error) {
	denied := hub.NewError(hub.CodeResumeDenied, "this session cannot be resumed with this key").
		WithFix("register the agent anew")
	prior := in.PriorSessionID.Public()
	if !h.secrets().provesKey(prior, in.ResumeKey) {
		return hub.Outcome[hub.Registered]{}, denied
	}
	agent, err := h.agentOfSession(prior)
	if errors.Is(err, core.ErrNotFound) {
		return hub.Outcome[hub.Registered]{}, denied
	}
	if err != nil {
		return hub.Outcome[hub.Registered]{}, err
	}
	if err := spoolOfAnother(ctx, agent); err != nil {
		return hub.Outcome[hub.Registered]{}, err
	}
	caller := *hub.CallerOf(ctx)
	act := gate.Act{Op: "resumeSession", Agent: agent, Caller: &caller}
	return h.begins(ctx, &act, func() error { return nil }, func(a *core.Agent, now core.Now) (core.Decision[hub.Session], error) {
		return a.Resume(prior, now)
	})
}

// begins has the agent's owner start a session. The caller's own proof does not
// count: such a call may replace the session that it proves.
func (h *Hub) begins(ctx context.Context, act *gate.Act, check func() error, decide func(*core.Agent, core.Now) (core.Decision[hub.Session], error)) (hub.Outcome[hub.Registered], error) {
	act.Caller.Agent, act.Caller.Incarnation = "", 0
	decide, free := h.withRoom(ctx, act.Agent, decide)
	defer free()
	row, replayed, err := gate.Do(ctx, h.gate, act, h.sessionCodec(), func() (c engine.Command[*core.Agent, hub.Session, hub.Registered], err error) {
		if err := check(); err != nil {
			return c, err
		}
		h.idle.forget(act.Agent)
		return engine.Command[*core.Agent, hub.Session, hub.Registered]{
			Owner: core.AgentOwner(act.Agent), Decide: decide,
			Begins: func(d core.Draft) core.SessionProof {
				f := d.Facts[0].(*core.SessionStarted)
				return core.SessionProof{Agent: f.Agent, Incarnation: f.Incarnation}
			},
			Answer: func(s hub.Session, _ *core.Record) hub.Registered { return h.secrets().reveal(s) },
		}, nil
	})
	return hub.Outcome[hub.Registered]{Row: row, Created: true, Replayed: replayed}, err
}

// sessionCodec stores a session without its secrets, which are made anew.
func (h *Hub) sessionCodec() engine.Codec[hub.Registered] {
	return engine.Codec[hub.Registered]{
		Kind: engine.EffectSession,
		Encode: func(r hub.Registered) []byte {
			r.SessionID = r.SessionID.Public()
			return engine.EncodeEffect(r.Session)
		},
		Decode: func(_ context.Context, e *core.Effect) (hub.Registered, error) {
			s, err := engine.DecodeEffect[hub.Session](e)
			return h.secrets().reveal(s), err
		},
	}
}

// withRoom refuses a decision by which a session becomes live for which the hub has no
// memory. free ends the reservation; it is called after the answer.
func (h *Hub) withRoom(ctx context.Context, agent hub.AgentID, decide func(*core.Agent, core.Now) (core.Decision[hub.Session], error)) (
	refusing func(*core.Agent, core.Now) (core.Decision[hub.Session], error), free func(),
) {
	var taken atomic.Pointer[func()]
	refusing = func(a *core.Agent, now core.Now) (core.Decision[hub.Session], error) {
		d, err := decide(a, now)
		if err != nil || !d.Begins() {
			return d, err
		}
		s := d.Answer(core.Position{Now: now})
		free, err := h.view.Directory.ReserveSession(&s, h.view.StandingOf(ctx, agent, now.Wall))
		taken.Store(&free)
		return d, err
	}
	return refusing, func() {
		if free := taken.Load(); free != nil {
			(*free)()
		}
	}
}

// Rename sets the live session's display name; see hub.Sessions.
func (h *Hub) Rename(ctx context.Context, agent hub.AgentID, in hub.RenameInput) (hub.Outcome[hub.Session], error) {
	return changeAgent(ctx, h, gate.Act{Op: "renameSession", Agent: agent}, agent, engine.EffectRenamed, 0,
		func(a *core.Agent, now core.Now) (core.Decision[hub.Session], error) {
			return a.Rename(in.DisplayName, now)
		})
}

// changeAgent has an agent's owner decide about its session.
func changeAgent[T any](ctx context.Context, h *Hub, act gate.Act, agent hub.AgentID, kind uint8, size int, decide func(*core.Agent, core.Now) (core.Decision[T], error)) (hub.Outcome[T], error) {
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[T](kind), func() (engine.Command[*core.Agent, T, T], error) {
		return engine.Command[*core.Agent, T, T]{Owner: core.AgentOwner(agent), Size: size, Decide: decide, Answer: asDecided[T]}, nil
	})
	return hub.Outcome[T]{Row: row, Replayed: replayed}, err
}

// CloseSession ends a session; see hub.Sessions.
func (h *Hub) CloseSession(ctx context.Context, id hub.SessionID, successor hub.AgentID) (hub.Outcome[hub.ClosedSession], error) {
	notFound := hub.NewError(hub.CodeSessionNotFound, "there is no such live session").
		WithFix("nothing is left to do if the session was yours")
	public := id.Public()
	if !h.secrets().provesSession(id) && !hub.CallerOf(ctx).Operator {
		return hub.Outcome[hub.ClosedSession]{}, notFound
	}
	agent, err := h.agentOfSession(public)
	if errors.Is(err, core.ErrNotFound) {
		return hub.Outcome[hub.ClosedSession]{}, notFound
	}
	if err != nil {
		return hub.Outcome[hub.ClosedSession]{}, err
	}
	if err := spoolOfAnother(ctx, agent); err != nil {
		return hub.Outcome[hub.ClosedSession]{}, err
	}
	return changeAgent(ctx, h, gate.Act{Op: "closeSession", Agent: agent}, agent, engine.EffectClosed, 0,
		func(a *core.Agent, _ core.Now) (core.Decision[hub.ClosedSession], error) {
			return a.Close(public, successor)
		})
}

// EndSession ends the session of an agent by the operator's word; see hub.Sessions.
func (h *Hub) EndSession(ctx context.Context, agent hub.AgentID, in hub.SessionEndInput) (hub.Outcome[hub.ClosedSession], error) {
	return changeAgent(ctx, h, ruling("endSession"), agent, engine.EffectClosed, len(in.Reason),
		func(a *core.Agent, _ core.Now) (core.Decision[hub.ClosedSession], error) { return a.End(in.Reason) })
}

// spoolOfAnother refuses a call about a session of agent that came through the
// spool of another agent. The session's agent is known only here.
func spoolOfAnother(ctx context.Context, agent hub.AgentID) error {
	if relay := hub.CallerOf(ctx).Relay; relay != "" && relay != agent {
		return hub.NewError(hub.CodeAgentMismatch, "the session belongs to another agent than the spool that the call came through").
			With("relay_agent_id", relay).WithFix("use the spool folder of the session's agent")
	}
	return nil
}

// Bootstrap returns what an agent needs to begin; see hub.Sessions.
func (h *Hub) Bootstrap(ctx context.Context, agent hub.AgentID) (hub.Bootstrap, error) {
	b, err := h.bootstrap(ctx, agent)
	if err == nil {
		h.view.NoteBootstrap(ctx, agent, b.LatestVisibleID)
	}
	return b, err
}

// bootstrap is Bootstrap, but marks no message as seen.
func (h *Hub) bootstrap(ctx context.Context, agent hub.AgentID) (hub.Bootstrap, error) {
	info, err := h.Info(ctx)
	if err != nil {
		return hub.Bootstrap{}, err
	}
	b := hub.Bootstrap{
		AgentID: agent, LatestVisibleID: h.view.Ring.Visible(),
		DefaultChannel: hub.DefaultChannel, Hub: info,
	}
	var all bool
	if b.LiveAgents, all = answers.Fitting(h.view.Directory.Agents(""), answers.Rows); !all {
		b.More.Add("live_agents", hub.GetCall("/v1/agents"))
	}
	if s, _, ok := h.view.Directory.Session(agent); ok {
		b.Session = &s
	}
	rooms, err := h.view.RoomsOf(agent)
	if err != nil {
		return hub.Bootstrap{}, err
	}
	if len(rooms) > 0 {
		b.RoomID = &rooms[0]
	}
	return b, nil
}

// Authenticate proves a session by its full id and returns its agent and
// incarnation. A session that ended because of silence revives unless another
// has displaced it. Errors: session_invalid, session_replaced, session_ended.
func (h *Hub) Authenticate(ctx context.Context, full hub.SessionID) (hub.Caller, error) {
	if !h.secrets().provesSession(full) {
		return hub.Caller{}, errSessionInvalid()
	}
	id := full.Public()
	agent, live := h.view.Directory.AgentOf(id)
	if !live {
		return h.authenticateEnded(ctx, id)
	}
	s, priorKey, live := h.view.Directory.Session(agent)
	if !live || s.SessionID != id {
		return hub.Caller{}, engine.ErrSessionReplaced(agent)
	}
	if priorKey {
		if _, err := h.revive(ctx, agent, s.Incarnation); err != nil && !unavailable(err) {
			return hub.Caller{}, err
		}
	}
	h.view.Directory.Touch(agent, h.engine.Clock.Now().Wall)
	return hub.Caller{Agent: agent, Session: id, Incarnation: s.Incarnation}, nil
}

func (h *Hub) authenticateEnded(ctx context.Context, id hub.SessionID) (hub.Caller, error) {
	agent, err := h.agentOfSession(id)
	if errors.Is(err, core.ErrNotFound) {
		return hub.Caller{}, errSessionInvalid()
	}
	if err != nil {
		return hub.Caller{}, err
	}
	row, err := h.view.AgentRow(agent)
	switch {
	case err != nil:
		return hub.Caller{}, err
	case row == nil:
		return hub.Caller{}, errSessionInvalid()
	case row.Session.SessionID != id:
		return hub.Caller{}, engine.ErrSessionReplaced(agent)
	case row.EndReason == core.EndedOperator:
		return hub.Caller{}, row.ErrEnded()
	case row.EndReason == core.EndedClosed:
		return hub.Caller{}, errSessionInvalid()
	}
	h.idle.forget(agent)
	s, err := h.revive(ctx, agent, row.Session.Incarnation)
	if err != nil && !unavailable(err) {
		return hub.Caller{}, err
	}
	if err == nil && s.SessionID != id {
		return hub.Caller{}, engine.ErrSessionReplaced(agent)
	}
	return hub.Caller{Agent: agent, Session: id, Incarnation: row.Session.Incarnation}, nil
}

// unavailable reports whether a write failed only because the hub can write
// nothing now. A read of the same call may then go on.
func unavailable(err error) bool {
	var e *hub.Error
	return errors.As(err, &e) && (e.Code == hub.CodeStorageFull || e.Code == hub.CodeStopping || e.Code == hub.CodeOverloaded)
}

// agentOfSession returns the agent of a session, live or not. Error:
// ErrNotFound.
func (h *Hub) agentOfSession(id hub.SessionID) (hub.AgentID, error) {
	if agent, ok := h.view.Directory.AgentOf(id); ok {
		return agent, nil
	}
	value, err := h.rows.Row(core.TableSession, []byte(id))
	return hub.AgentID(value), err
}

func errSessionInvalid() error {
	return hub.NewError(hub.CodeSessionInvalid, "the session that the call names is not valid")
}

func (h *Hub) secrets() secrets { return secrets{h.options.Secret} }
