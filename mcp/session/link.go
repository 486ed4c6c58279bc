package session

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
	"hubcli/internal/process"
	"hubcli/mcp/wire"
)

// Of the life with a hub.
const (
	beat         = 40 * time.Second // a session of an agent that says nothing ends after three of them
	restartGrace = 5 * time.Second  // how long a hub that was there may take to come back before another is started
	startGrace   = 3 * time.Second  // how long to look for a hub that is not the bridge's to start
	lookEvery    = 100 * time.Millisecond
	heldGrace    = 10 * time.Second // how long a port that another program holds counts as held
)

// Session is a session of the bridge's agent. It never changes.
type Session struct {
	Agent    hub.AgentID
	ID       hub.SessionID // full: a secret
	key      string        // resumes it: a secret
	Instance hub.InstanceID
	Client   *client.Client
	joined   bool     // taken up by hub_join
	main     *Session // of a sub-agent: the session of its main agent when it began; else nil
	Remark   string   // what the agent should know about how it came to be; may be empty
}

// Link holds the session with the hub. One attempt at a time brings it about, and
// all calls that need it wait for that.
//
// A session outlives a restart of the hub, so that coming back means to look
// whether it is still good. Only where it is not is another made: by its key, or
// by registering anew in a store that does not know it.
//
// Invariants, with mu held:
//
//	live       now is set, and ended is nil
//	none       now and ended are nil; last is the session before, if it may still be good
//	displaced  ended is set; now and last are nil. Only hub_join leaves this state
//
// trying is set while an attempt runs; it ends in one of these states. hub_join may make the link
// live while the attempt waits for joins. last says something in the state none alone.
//
// joins is locked before mu. The hub is never called with mu held.
type Link struct {
	// Notify sends the client a notification that no SDK knows; nil: the client takes none.
	Notify func(ctx context.Context, method string, params any) error

	Config
	log   *slog.Logger
	Feeds *wire.Feeds   // how far the agent has read
	Homes homes         // the rooms in which it works
	subs  subAgents     // the sub-agents that call tools over the bridge
	Beat  time.Duration // see the constant
	Look  time.Duration // see followLook
	Seats time.Duration // see seatAfter
	grace time.Duration // restartGrace

	notes   identity.Notes
	nonce   string          // no other bridge has it
	self    process.Process // zero: unknown
	Starter process.Process // the harness, as a rule; zero: unknown

	guest *guest                        // nil: the link is that of a process
	base  atomic.Pointer[client.Client] // see Base
	dial  func(baseURL string) *client.Client
	life  context.Context
	work  sync.WaitGroup

	joins chan struct{} // holds one token while an attempt or a join changes the agent

	Met chan struct{} // closed when the client has introduced itself

	mu          sync.Mutex      // guards what follows, down to trying
	client      string          // the name by which it has
	called      chan struct{}   // closed when it has called a tool; then thread and interactive never change, and need no lock
	lastCall    time.Time       // of a tool; in a named session, which is woken without one, at first its beginning
	thread      string          // the session of the harness that the call named; may be empty
	interactive bool            // that session goes on after its turn
	callIDs     bool            // calls name their ids, so that hooks can say who makes them
	questions   []hub.AskID     // the latest that were asked for them
	relaying    map[string]bool // permission prompts that a channel has relayed and that are open, by the harness's names
	now         *Session        // nil: none
	last        *Session        // the one before, which may still be good; nil: none
	news        string          // what the next answer of any tool begins with; may be empty
	ended       *hub.Error      // another process has the name: what calls are told
	trying      *attempt

	// What only the holder of joins uses, and Close after the work has ended.
	slot     *slot // nil: none
	slotted  bool  // whether there is one has been settled
	held     bool  // the slot that was asked for is another bridge's
	made     bool  // nobody has named the agent, and no bridge before this one was it
	key      string
	failed   error // of the last start of a hub; nil: it came up
	failedAt time.Time
	store    hub.InstanceID // of the hub that was last reached; empty: none was
}

// otherStore is what an agent is told when its hub has another store.
const otherStore = "The hub has another store than before: it holds nothing of the old one, you are in none of its rooms, and old ids mean other things."

// attempt is one try to get a session; session and err are set when done is closed.
type attempt struct {
	done    chan struct{}
	session *Session
	err     error
}

// New returns a link that has not begun. log receives errors that belong to no
// call.
func New(cfg Config, log *slog.Logger) *Link {
	l := &Link{
		Config: cfg, log: log, Feeds: wire.NewFeeds(), Beat: beat, Look: followLook, Seats: seatAfter, grace: restartGrace,
		notes: identity.NotesOf(cfg.DataRoot, cfg.Process), Met: make(chan struct{}), called: make(chan struct{}),
		joins: make(chan struct{}, 1), nonce: rand.Text(),
	}
	l.dial = func(baseURL string) *client.Client {
		return client.New(client.Config{BaseURL: baseURL, DataRoot: cfg.DataRoot})
	}
	l.Feeds.LateCancels = func() bool { return l.Harness().Facts().CancelsAnswered }
	l.base.Store(l.dial(cfg.BaseURL))
	l.notes.Tell = func(err error) { l.log.Warn("what hooks have left is not believed", "error", err) }
	if cfg.Process != nil && cfg.Parent != nil {
		l.self, _ = cfg.Process(os.Getpid())
		l.Starter, _ = cfg.Process(cfg.Parent())
	}
	return l
}

// Base is the hub without a session. It is another one after the hub of this user has got another
// address.
func (l *Link) Base() *client.Client { return l.base.Load() }

// follow goes to the address at which programs of this user expect their hub now, unless the
// caller has named one.
func (l *Link) follow() {
	if l.elsewhere() {
		l.base.Swap(l.dial(l.Where())).Close()
	}
}

// elsewhere reports whether that is another address than the link's.
func (l *Link) elsewhere() bool { return l.Where != nil && l.Where() != l.Base().BaseURL() }

// isHere reports whether what was kept of a hub is of the one that was reached last. A hub of this
// user that has got another address is the same by its store.
func (l *Link) isHere(baseURL string, instance hub.InstanceID) bool {
	return baseURL == l.Base().BaseURL() || l.Where != nil && instance != "" && instance == l.store
}

// Open begins to connect, and keeps the session live while the agent is silent.
func (l *Link) Open(life context.Context) {
	l.life = life
	l.mu.Lock()
	l.try()
	l.mu.Unlock()
	l.work.Go(l.stay)
	l.work.Go(l.report)
	l.work.Go(l.wakes)
	l.work.Go(l.heeds)
}

// try begins an attempt unless one is under way. The lock is held.
func (l *Link) try() *attempt {
	if l.trying != nil {
		return l.trying
	}
	a := &attempt{done: make(chan struct{})}
	l.trying = a
	last := l.last
	l.work.Go(func() {
		if a.err = l.change(l.life); a.err == nil {
			defer l.changed()
			// Meanwhile hub_join may have made one.
			if a.session = l.Current(); a.session == nil {
				a.session, a.err = l.connect(l.life, last)
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		var h *hub.Error
		if errors.As(a.err, &h) && (h.Code == hub.CodeSessionReplaced || h.Code == hub.CodeSessionEnded) {
			l.ended, l.last = h, nil
		}
		if l.now == nil {
			l.now = a.session
		}
		l.trying = nil
		close(a.done)
	})
	return a
}

// Session returns the live session, and waits while there is going to be one.
func (l *Link) Session(ctx context.Context) (*Session, error) {
	if l.guest != nil {
		return l.asGuest(ctx)
	}
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
		return a.session, a.err
	}
}

// change waits for its turn to change which agent the bridge is.
func (l *Link) change(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case l.joins <- struct{}{}:
		return nil
	}
}

func (l *Link) changed() { <-l.joins }

// Current returns the live session, or nil.
func (l *Link) Current() *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// connect brings a hub up, and makes a session or finds that the last is good.
func (l *Link) connect(ctx context.Context, last *Session) (*Session, error) {
	info, err := l.arrive(ctx, last != nil)
	if err != nil {
		return nil, err
	}
	if err := l.recognized(ctx); err != nil { // it decides which agent the bridge is
		return nil, err
	}
	var s *Session
	if last != nil && last.Client.BaseURL() != l.Base().BaseURL() {
		there := *last
		there.Client = l.Base().As(last.Agent, last.ID)
		last = &there
	}
	if last != nil {
		s, err = l.again(ctx, last, info)
	} else {
		s, err = l.begin(ctx, info)
	}
	if err == nil {
		l.announce(s)
		l.work.Go(func() { l.settle(l.life, s) })
	}
	return s, err
}

// arrive is reach, and forgets what holds in one store only where the hub has
// another than before.
func (l *Link) arrive(ctx context.Context, wasThere bool) (hub.Info, error) {
	info, err := l.reach(ctx, wasThere)
	if err != nil {
		return info, err
	}
	if l.store != "" && l.store != info.InstanceID {
		l.moved()
	}
	l.store = info.InstanceID
	return info, nil
}

// moved forgets what holds in one store only.
func (l *Link) moved() {
	l.Feeds.Forget()
	l.Homes.Forget()
	l.tell(otherStore)
}

// tell has the next answer of any tool begin with what the agent should know.
func (l *Link) tell(news string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news = news
}

// TakeNews returns what is to be told, once.
func (l *Link) TakeNews() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := l.news
	l.news = ""
	return news
}

// reach finds a hub, and starts one if that is the bridge's to do. One that was
// there gets time to come back by itself: its operator may have stopped it to
// work on its store. Where another user has the address, the start finds another.
func (l *Link) reach(ctx context.Context, wasThere bool) (hub.Info, error) {
	grace, start := time.Duration(0), l.Ensure
	if wasThere {
		grace, start = l.grace, l.Restart
	} else if start == nil {
		grace = startGrace
	}
	l.follow()
	info, err := l.Base().Info(ctx)
	if l.failed != nil && errors.Is(err, &hub.Error{Code: hub.CodeBrokeOff}) && time.Since(l.failedAt) < heldGrace {
		return info, l.failed // what has the port drops connections still
	}
	for until := time.Now().Add(grace); err != nil && away(err) && time.Now().Before(until) && pause.For(ctx, lookEvery); {
		info, err = l.Base().Info(ctx)
	}
	if err == nil || !away(err) && !(l.Where != nil && taken(err)) || start == nil || ctx.Err() != nil {
		return info, err
	}
	l.failed = start(ctx)
	if l.failedAt = time.Now(); l.failed != nil {
		return hub.Info{}, l.failed
	}
	l.follow()
	return l.Base().Info(ctx)
}

// away reports whether an error says that there is no hub just now.
func away(err error) bool {
	for _, code := range []hub.Code{hub.CodeUnreachable, hub.CodeBrokeOff, hub.CodeNoAnswer, hub.CodeStopping} {
		if errors.Is(err, &hub.Error{Code: code}) {
			return true
		}
	}
	return false
}

// taken reports whether an error says that somebody else has the hub's address.
func taken(err error) bool {
	return errors.Is(err, &hub.Error{Code: hub.CodeOtherUser}) || errors.Is(err, &hub.Error{Code: hub.CodeImpostor})
}

// Lost looks at the error of a call in session s. It reports whether the same
// call may succeed in the next session, and which error to answer if not.
func (l *Link) Lost(s *Session, err error) (worth bool, _ error) {
	switch {
	case l.guest != nil:
		return false, l.guest.unproved(err) // the request names no other session
	case s.main != nil:
		return l.lostSub(s, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionReplaced}):
		if l.now == s {
			l.now, l.last, l.ended = nil, nil, replaced(s.Agent)
		}
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionEnded}):
		if l.now == s {
			_ = errors.As(err, &l.ended) // its words are the operator's: the next tool says them
			l.now, l.last = nil, nil
		}
	case errors.Is(err, &hub.Error{Code: hub.CodeSessionInvalid}), away(err), taken(err) && l.elsewhere():
		if l.now == s {
			l.now, l.last = nil, s
			l.Feeds.Again()
		}
	default:
		return false, err
	}
	if l.ended != nil {
		return false, l.ended
	}
	return true, err
}

func replaced(agent hub.AgentID) *hub.Error {
	return hub.Errorf(hub.CodeSessionReplaced, "another process has registered as %s: this bridge is no longer that agent", agent).
		With("agent_id", agent).
		WithFix("do not fight for the name: go on as another agent with hub_join (agent_id, or the code of an invite). " +
			"Claims and tasks stay with the name, which is free again two minutes after that process has fallen silent: then hub_join with it comes back")
}

// stay keeps a silent agent's session live by a heartbeat that changes neither
// its activity nor its read cursors. It also notices early that another process
// took the name, and connects when a hub appears.
func (l *Link) stay() {
	for pause.For(l.life, l.Beat) {
		l.mu.Lock()
		s, idle := l.now, l.now == nil && l.ended == nil && l.trying == nil
		l.mu.Unlock()
		switch {
		case s != nil:
			switch err := look(l.life, s); {
			case err != nil && away(err):
				l.Feeds.Again() // it may have been killed
			case err != nil:
				_, _ = l.Lost(s, err)
			}
			l.keepSubAgents()
		case idle:
			if _, err := l.Base().Info(l.life); err == nil {
				l.mu.Lock()
				l.try()
				l.mu.Unlock()
			}
		}
	}
}

// look is that heartbeat: the cheapest call that only keeps the session live.
func look(ctx context.Context, s *Session) error {
	_, err := s.Client.Events(ctx, hub.EventsQuery{Agent: s.Agent, Since: hub.MaxMessageID, ExcludeSelf: true, Limit: 1, Peek: true})
	return err
}

// closeStep bounds each of two steps: what the link does beside calls ends, and the
// session does.
const closeStep = 400 * time.Millisecond

// Close ends the session. Whatever hangs is left to the end of the process. If the hub does not hear of the
// end, the note of the bridge stays: by it the hub ends the session when it is back.
func (l *Link) Close() {
	done := make(chan struct{})
	go func() { defer close(done); l.work.Wait() }()
	t := time.NewTimer(closeStep)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		return
	}
	var err error
	if s := l.Current(); s != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeStep)
		defer cancel()
		l.endSubAgents(ctx)
		_, err = s.Client.CloseSession(ctx, s.ID, "")
	} else if l.orphaned() {
		l.endDriver()
	}
	if err == nil || !away(err) {
		l.notes.Take(l.Starter, l.self)
	}
	l.slot.Close()
	l.Base().Close()
}
