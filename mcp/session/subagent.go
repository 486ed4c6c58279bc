package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
)

// Of the sub-agents of the bridge's agent.
const (
	mostSubAgents = 64
	subAgentStays = 10 * time.Minute // how long after its last call a sub-agent is kept live: of some ends nobody tells
)

// Caller says who makes a call of a tool.
type Caller struct {
	identity.Caller
	Known bool // the hook before the call has said so
}

// subAgents holds the sessions of sub-agents. The zero value is ready.
type subAgents struct {
	begin sync.Mutex // held while one of them begins
	mu    sync.Mutex
	live  map[hub.AgentID]*subAgent
}

type subAgent struct {
	session *Session
	called  time.Time // when it has called a tool last
}

// CalledBy returns who makes a call of a tool, by the _meta of the call. Of a guest nobody knows it:
// its sub-agents act as it, because a link of one request could not keep their sessions.
func (l *Link) CalledBy(meta map[string]any) Caller {
	member := l.Harness().Facts().CallMember
	id, ok := meta[member].(string)
	if l.guest != nil || member == "" || !ok || id == "" {
		return Caller{}
	}
	l.mu.Lock()
	first := !l.callIDs
	l.callIDs = true
	now := l.now
	l.mu.Unlock()
	if first && now != nil {
		l.work.Go(func() { l.announce(now) }) // so far hooks did not know that the bridge hears of calls
	}
	by, known := identity.SessionsOf(l.DataRoot).TakeCall(id)
	return Caller{Caller: by, Known: known}
}

// SubAgent returns the session of a sub-agent of the agent of main, by the name that the harness
// gives to the sub-agent. It is an agent of its own: it has its own locks and messages, and none
// of its main agent's. It works in the room of its main agent.
func (l *Link) SubAgent(ctx context.Context, main *Session, name string) (*Session, error) {
	l.subs.begin.Lock()
	defer l.subs.begin.Unlock()
	id := main.Agent.SubAgent(name)
	if s := l.subs.find(id, main, l.Now()); s != nil {
		return s, nil
	}
	meta, err := json.Marshal(map[string]any{"harness": l.Harness(), "bridge": true, "main_agent": main.Agent})
	if err != nil {
		return nil, err
	}
	out, err := l.registerSub(ctx, hub.RegisterInput{AgentID: id, Metadata: meta}, main.Agent)
	if err != nil {
		_, err = l.Lost(main, err) // where the hub is away, the next call looks for it
		return nil, err
	}
	s := &Session{
		Agent: id, ID: out.Row.SessionID, Instance: main.Instance, Client: l.Base().As(id, out.Row.SessionID), main: main,
		Remark: fmt.Sprintf("You are a sub-agent of %s: report to it with your answer.", main.Agent),
	}
	if out.Row.Incarnation == 1 {
		_, _ = s.Client.Bootstrap(ctx, id) // it has seen what was before; if this fails, it reads some of that
	}
	if room, err := l.Home(ctx, main); err == nil && room != "" {
		l.Homes.join(id, room)
	}
	if gone := l.subs.add(s, l.Now()); gone != nil {
		l.work.Go(func() { l.EndSubAgent(l.life, gone) })
	}
	return s, nil
}

// registerSub registers a sub-agent. A live session of that id is taken over only if it is this
// sub-agent's from before: somebody may have named another agent like that.
func (l *Link) registerSub(ctx context.Context, in hub.RegisterInput, main hub.AgentID) (hub.Outcome[hub.Registered], error) {
	register := func(replace bool) (hub.Outcome[hub.Registered], error) {
		in.Replace = &replace
		return l.Base().Register(hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "bridge-" + rand.Text()}}), in)
	}
	out, err := register(false)
	if !errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
		return out, err
	}
	live, err := hub.LiveAs(ctx, l.Base().Agents, in.AgentID)
	switch {
	case err != nil:
		return out, err
	case live != nil && live.SubAgentOf() != main:
		return out, hub.Errorf(hub.CodeSessionConflict, "this sub-agent would be %s on the hub, and that is another agent, which is live", in.AgentID).
			With("agent_id", in.AgentID).WithFix("go on without the hub, and tell this to " + string(main) + ", your main agent, with your answer")
	}
	return register(true)
}

// find returns the session of a sub-agent that has begun in the hub and store of main, or nil, and
// notes that it calls.
func (a *subAgents) find(id hub.AgentID, main *Session, now time.Time) *Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	have := a.live[id]
	if have == nil || have.session.Instance != main.Instance || have.session.Client.BaseURL() != main.Client.BaseURL() {
		return nil
	}
	have.called = now
	return have.session
}

// add keeps a session. It returns the one that has been silent longest where there are too many.
func (a *subAgents) add(s *Session, now time.Time) (gone *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		a.live = map[hub.AgentID]*subAgent{}
	}
	a.live[s.Agent] = &subAgent{session: s, called: now}
	if len(a.live) <= mostSubAgents {
		return nil
	}
	oldest := s.Agent
	for id, have := range a.live {
		if have.called.Before(a.live[oldest].called) {
			oldest = id
		}
	}
	gone = a.live[oldest].session
	delete(a.live, oldest)
	return gone
}

// drop forgets a session.
func (a *subAgents) drop(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if have := a.live[s.Agent]; have != nil && have.session == s {
		delete(a.live, s.Agent)
	}
}

// since lists the sessions of those that have called a tool since then.
func (a *subAgents) since(then time.Time) (list []*Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, have := range a.live {
		if !have.called.Before(then) {
			list = append(list, have.session)
		}
	}
	return list
}

// lostSub is Lost for the session of a sub-agent: the next call begins another.
func (l *Link) lostSub(s *Session, err error) (worth bool, _ error) {
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced}), errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}):
		l.subs.drop(s)
		return true, err
	case away(err), taken(err):
		l.subs.drop(s)
		return l.Lost(s.main, err)
	}
	return false, err
}

// SubAgents lists the sessions of sub-agents.
func (l *Link) SubAgents() []*Session { return l.subs.since(time.Time{}) }

// keepSubAgents keeps the sessions of silent sub-agents live, as stay does for their main agent.
func (l *Link) keepSubAgents() {
	for _, s := range l.subs.since(l.Now().Add(-subAgentStays)) {
		if err := look(l.life, s); err != nil && !away(err) {
			_, _ = l.lostSub(s, err) // its hook has ended it, or it begins anew with its next call
		}
	}
}

// EndSubAgent lets go what a sub-agent holds, and ends its session. Messages to it go to its main
// agent from then on.
func (l *Link) EndSubAgent(ctx context.Context, s *Session) {
	ctx, cancel := context.WithTimeout(ctx, closeStep)
	defer cancel()
	// Of what cannot be released the time ends, and the hub ends a silent session by itself.
	l.subs.drop(s)
	_ = hook.LetGo(ctx, s.Client, s.Agent)
	_, _ = s.Client.CloseSession(ctx, s.ID, s.main.Agent)
}

// endSubAgents ends all of them, at once.
func (l *Link) endSubAgents(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range l.SubAgents() {
		all.Go(func() { l.EndSubAgent(ctx, s) })
	}
	all.Wait()
}
