package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/mcp/wire"
)

// Guest says for whom a client acts that starts no process, and that says so in each request. All
// but Hub may be empty.
type Guest struct {
	Hub     *client.Client
	Agent   hub.AgentID
	Session hub.SessionID // full; proves the agent
	Folder  string        // of the project; absolute, the caller has checked
	// DataRoot is the folder of the user's data, in which the port of the hub is noted.
	DataRoot string
}

// guest is the state of a link that lives for one request.
type guest struct {
	Guest
	known  sync.Once
	failed error // of making the agent known
}

// noAgent tells a client how it names its agent.
func noAgent() *hub.Error {
	return hub.NewError(hub.CodeInvalidAgentID, "this client has not said which agent it is: an address such as http://127.0.0.1:6969/mcp?agent=reviewer says so, and so does the header "+api.HeaderAgent).
		WithFix("the user adds ?agent=NAME to the address in the settings of this program; then call again")
}

// NewGuest returns the link of one request. It is not opened, keeps nothing and
// holds no session: it acts as the agent that the request names.
func NewGuest(g Guest, log *slog.Logger) *Link {
	l := &Link{
		Config: Config{Getenv: func(string) string { return "" }, Now: time.Now, Agent: g.Agent, BaseURL: g.Hub.BaseURL(), DataRoot: g.DataRoot},
		log:    log, Feeds: wire.NewFeeds(), Met: make(chan struct{}), called: make(chan struct{}), guest: &guest{Guest: g},
	}
	l.base.Store(g.Hub)
	if g.Agent != "" {
		l.now = &Session{Agent: g.Agent, ID: g.Session, Client: g.Hub.As(g.Agent, g.Session)}
	}
	return l
}

// asGuest returns what the calls of the request act in. An agent that is not live is registered, so that others
// can write to it.
func (l *Link) asGuest(ctx context.Context) (*Session, error) {
	s := l.Current()
	if s == nil {
		return nil, noAgent()
	}
	l.guest.known.Do(func() { l.guest.failed = l.introduce(ctx, s, false) })
	return s, l.guest.failed
}

// introduce registers the agent of a guest if it has no live session. The session that this makes is
// not kept: the next request names the agent again. One that proves a session has one. An agent whose
// session the operator has ended comes back only if it has asked to.
func (l *Link) introduce(ctx context.Context, s *Session, asked bool) error {
	if s.ID != "" {
		return nil
	}
	// One that was only silent is live again by this call.
	if row, err := hub.LiveAs(ctx, s.Client.Agents, s.Agent); err != nil || row != nil {
		return err
	}
	_, err := l.registerGuest(ctx, s, hub.RegisterInput{Replace: new(bool), UnlessEnded: !asked})
	if !errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
		return err
	}
	if row, failed := hub.LiveAs(ctx, s.Client.Agents, s.Agent); failed != nil || row != nil {
		return failed // another call was first
	}
	return err // the id is too like another agent's
}

func (l *Link) registerGuest(ctx context.Context, s *Session, in hub.RegisterInput) (hub.SessionID, error) {
	meta, err := json.Marshal(map[string]any{"harness": l.Harness()})
	if err != nil {
		return "", err
	}
	in.AgentID, in.Metadata = s.Agent, meta
	out, err := s.Client.Register(ctx, in)
	return out.Row.SessionID, err
}

// takeUpAsGuest is for the agent of the request that asks to come back. It stays that agent.
func (l *Link) takeUpAsGuest(ctx context.Context, agent hub.AgentID) (*Session, error) {
	s := l.Current()
	if s == nil {
		return nil, noAgent()
	}
	if err := l.staysGuest(s, agent); err != nil {
		return nil, err
	}
	return s, l.introduce(ctx, s, true)
}

// joinAsGuest takes a seat for the agent of the request, which stays the agent.
func (l *Link) joinAsGuest(ctx context.Context, code string, in hub.AcceptInput, key string) (*hub.Joined, *Session, error) {
	s := l.Current()
	if s == nil {
		return nil, nil, noAgent()
	}
	if err := l.staysGuest(s, in.AgentID); err != nil {
		return nil, nil, err
	}
	c, err := l.proved(ctx, s, code)
	if err != nil {
		return nil, nil, err
	}
	in.AgentID = s.Agent
	if key != "" {
		ctx = hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: key}})
	}
	out, err := c.AcceptInvite(ctx, code, in)
	if err != nil {
		return nil, nil, l.guest.unproved(err)
	}
	l.Homes.join(s.Agent, out.Row.Room.RoomID)
	return &out.Row, s, nil
}

// proved returns a client that proves the agent, because an invite gives no seat of a live agent to somebody who only
// names it. For that the agent gets a session, which displaces any but a bridge's. A code that leads nowhere displaces
// none: it is refused without a proof, too.
func (l *Link) proved(ctx context.Context, s *Session, code string) (*client.Client, error) {
	if s.ID != "" {
		return s.Client, nil
	}
	row, err := hub.LiveAs(ctx, s.Client.Agents, s.Agent)
	if err != nil {
		return nil, err
	}
	if row != nil && row.Bridged() {
		return nil, hub.Errorf(hub.CodeSessionConflict, "%s is live in a bridge", s.Agent).With("agent_id", s.Agent).
			WithFix("join there; or the user names another agent in the address that this client calls")
	}
	if invite, err := s.Client.PreviewInvite(ctx, code); err != nil || invite.Invite.State != hub.InviteActive {
		return s.Client, err
	}
	replace := row != nil
	id, err := l.registerGuest(ctx, s, hub.RegisterInput{Replace: &replace})
	return l.Base().As(s.Agent, id), err
}

// unproved says in an error what the user does about a session that the request proves and that is no
// good: the client sends it with each request, whatever the agent does.
func (g *guest) unproved(err error) error {
	var of *hub.Error
	if g.Session == "" || !errors.As(err, &of) {
		return err
	}
	e := *of
	const drop = "the user takes the header " + api.HeaderSession + " out of the settings of this program"
	switch e.Code {
	case hub.CodeSessionInvalid, hub.CodeSessionReplaced, hub.CodeAgentMismatch:
		return e.WithFix(drop + ", or puts the full id of a live session of this agent there; then call again")
	case hub.CodeSessionEnded:
		return e.WithFix("end your turn and tell your user these words; only if they allow it, " + drop + ", and you come back with hub_join and your agent_id")
	}
	return err
}

// staysGuest refuses to make the client another agent than its requests name.
func (l *Link) staysGuest(s *Session, agent hub.AgentID) error {
	if agent == "" || agent == s.Agent {
		return nil
	}
	return hub.Errorf(hub.CodeAgentMismatch, "you are %s: the settings of your program say so in each call", s.Agent).With("agent_id", s.Agent).
		WithFix("leave agent_id out; the user changes the agent in the address that the client calls")
}

// Delivered tells the hub what the answers of a guest's request have brought, once they are
// written whole: the next poll may come before anything else does.
func (l *Link) Delivered(ctx context.Context) {
	s := l.Current()
	if s == nil {
		return
	}
	for _, q := range l.Feeds.Delivered() {
		if _, err := s.Client.Events(ctx, q); err != nil {
			l.log.Debug("the hub has not heard what was read", "error", err)
		}
	}
}

// project is the folder of the project, or "".
func (l *Link) project() string {
	if l.guest == nil {
		return ProjectFolder(l.Getenv, os.Getwd)
	}
	return l.guest.Folder
}
