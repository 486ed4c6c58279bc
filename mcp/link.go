package mcp

import (
	"context"
	"errors"
	"sync"

	"hubcli/api/client"
	"hubcli/hub"
)

// seat is a session of the bridge's agent. It never changes.
type seat struct {
	agent  hub.AgentID
	id     hub.SessionID // full: a secret
	key    string        // resumes it: a secret
	client *client.Client
	remark string // what its agent should know about how it came to be; may be empty
}

// link holds the session with the hub. One attempt at a time brings it about, and
// all calls that need it wait for that.
type link struct {
	b    *bridge
	base *client.Client

	life   context.Context
	mu     sync.Mutex
	now    *seat      // nil: none
	ended  *hub.Error // another process has the name: what calls are told
	trying *attempt
	work   sync.WaitGroup
}

// attempt is one try to get a session; seat and err are set when done is closed.
type attempt struct {
	done chan struct{}
	seat *seat
	err  error
}

func newLink(b *bridge) *link {
	return &link{b: b, base: client.New(client.Config{BaseURL: b.BaseURL})}
}

// open begins to connect.
func (l *link) open(life context.Context) {
	l.life = life
	l.mu.Lock()
	defer l.mu.Unlock()
	l.try()
}

// try begins an attempt unless one is under way. The lock is held.
func (l *link) try() *attempt {
	if l.trying != nil {
		return l.trying
	}
	a := &attempt{done: make(chan struct{})}
	l.trying = a
	l.work.Go(func() {
		a.seat, a.err = l.connect(l.life)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now, l.trying = a.seat, nil
		close(a.done)
	})
	return a
}

// seat returns the live session, and waits while there is going to be one.
func (l *link) seat(ctx context.Context) (*seat, error) {
	l.mu.Lock()
	if l.ended != nil || l.now != nil {
		defer l.mu.Unlock()
		if l.ended != nil {
			return nil, l.ended
		}
		return l.now, nil
	}
	a := l.try()
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-a.done:
		return a.seat, a.err
	}
}

// connect brings a hub up and registers.
func (l *link) connect(ctx context.Context) (*seat, error) {
	if l.b.Ensure != nil {
		if err := l.b.Ensure(ctx); err != nil {
			return nil, err
		}
	}
	agent := l.b.Agent
	if agent == "" {
		agent = "mcp-client"
	}
	out, err := l.base.Register(ctx, hub.RegisterInput{AgentID: agent})
	if err != nil {
		return nil, err
	}
	return &seat{
		agent: out.Row.AgentID, id: out.Row.SessionID, key: out.Row.ResumeKey,
		client: l.base.As(out.Row.AgentID, out.Row.SessionID),
	}, nil
}

// lost looks at the error of a call in session s. It reports whether the same call
// may succeed in the session that there is next, and what to answer if not.
func (l *link) lost(s *seat, err error) (worth bool, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced}):
		if l.now == s {
			l.now, l.ended = nil, replaced(s.agent)
		}
		return l.ended == nil, l.ended
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}),
		errors.Is(err, &hub.Error{Code: client.CodeUnreachable}),
		errors.Is(err, &hub.Error{Code: client.CodeBrokeOff}):
		if l.now == s {
			l.now = nil
		}
		return true, err
	}
	return false, err
}

func replaced(agent hub.AgentID) *hub.Error {
	return hub.Errorf(hub.CodeSessionReplaced, "another process has registered as %s, so this bridge is that agent no more", agent).
		With("agent_id", agent).
		WithFix("do not take the name back by force: call hub_join to go on as another agent")
}

// close ends the session.
func (l *link) close() {
	l.work.Wait()
	l.mu.Lock()
	s := l.now
	l.mu.Unlock()
	if s != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		// The hub ends a silent session by itself.
		_, _ = s.client.CloseSession(ctx, s.id)
	}
	l.base.Close()
}
