package room

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/browser/gate"
)

const (
	// idleAfter is the time after which the page of a room is closed if no step comes.
	idleAfter = 5 * time.Minute
	// lingerAfter is the time after which an engine without pages is ended.
	lingerAfter = 30 * time.Second
	// maxPages bounds the pages that are open at once: each is a process of the engine.
	maxPages = 16
)

// Options say how the engine is found and started. Find and Launch are required.
type Options struct {
	// Find returns the engine to use. Errors: browser_missing.
	Find func(ctx context.Context) (hub.BrowserEngine, error)
	// Launch starts it.
	Launch Launch
	// Store tells the profiles of this hub from those of another: its folder.
	Store string
	// NoSandbox starts the engine without its sandbox: the operator has asked for it.
	NoSandbox bool
	// Gate says how pages reach the network; the zero value is right.
	Gate gate.Options
	// Idle and Linger are set by tests; 0: the usual times.
	Idle, Linger time.Duration
	// StepMax is set by tests; 0: hub.BrowseStepMax.
	StepMax time.Duration
	Logger  *slog.Logger
}

// Manager has at most one engine.
type Manager struct {
	options Options
	log     *slog.Logger

	start chan struct{} // capacity 1: its holder starts or ends an engine

	mu     sync.Mutex
	closed bool
	engine *engine // nil: none runs
	pages  map[hub.RoomID]*seat
	linger *time.Timer
}

// seat is the place of one room's page.
type seat struct {
	turn  chan struct{} // capacity 1: its holder does a step
	page  *page         // nil: none is open; for the holder of the turn
	idle  *time.Timer
	users int // that hold the turn or wait for it
}

// New makes a manager. Nothing runs before a step wants a page.
func New(o Options) *Manager {
	if o.Idle == 0 {
		o.Idle = idleAfter
	}
	if o.Linger == 0 {
		o.Linger = lingerAfter
	}
	if o.StepMax == 0 {
		o.StepMax = hub.BrowseStepMax
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Manager{options: o, log: o.Logger, start: make(chan struct{}, 1), pages: map[hub.RoomID]*seat{}}
}

// Sweep removes what an earlier hub on the same store has left. The caller has the store.
func (m *Manager) Sweep() { sweep(m.options.Store) }

// Step does one step; see hub.BrowserDriver.
func (m *Manager) Step(ctx context.Context, room hub.RoomID, hosts []hub.AllowedHost, in *hub.BrowseInput) (hub.BrowsePage, *hub.Picture, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.options.StepMax-answerMargin, errStepOver)
	defer cancel()
	s, err := m.enter(ctx, room)
	if err != nil {
		return hub.BrowsePage{}, nil, err
	}
	defer m.leave(room, s)
	if in.Action == hub.BrowseClose {
		m.shut(s)
		return hub.BrowsePage{RoomID: room, Action: in.Action, Notes: []string{}}, nil, nil
	}
	if s.page != nil && s.page.gone() {
		m.shut(s)
		if in.Action != hub.BrowseOpen {
			return hub.BrowsePage{}, nil, errNoPage("the page of the room is gone")
		}
	}
	if s.page == nil && in.Action != hub.BrowseOpen {
		return hub.BrowsePage{}, nil, errNoPage("the room has no page open")
	}
	if s.page == nil {
		if s.page, err = m.newPage(ctx, hosts); err != nil {
			return hub.BrowsePage{}, nil, err
		}
	}
	s.page.pass.Allow(hosts)
	out, picture, err := s.page.step(ctx, in)
	if s.page.stuck(err) {
		m.shut(s)
	}
	out.RoomID, out.Action = room, in.Action
	return out, picture, err
}

// enter waits for the turn of a room's page.
func (m *Manager) enter(ctx context.Context, room hub.RoomID) (*seat, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, errStopped()
	}
	s := m.pages[room]
	if s == nil {
		if len(m.pages) >= maxPages {
			m.mu.Unlock()
			return nil, hub.Errorf(hub.CodeBrowserBusy, "%d rooms have a page open, and there cannot be more", maxPages).
				WithFix("close a page that is not needed, or wait: a page that nobody uses is closed after " + m.options.Idle.String())
		}
		s = &seat{turn: make(chan struct{}, 1)}
		m.pages[room] = s
	}
	s.users++
	if s.idle != nil {
		s.idle.Stop()
	}
	if m.linger != nil {
		m.linger.Stop()
	}
	m.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		m.dismiss(room, s)
		return nil, hub.NewError(hub.CodePageTimeout, "an earlier step with this page has not ended").WithFix("wait for it, then send this step again")
	}
}

func (m *Manager) leave(room hub.RoomID, s *seat) {
	open := s.page != nil
	<-s.turn
	m.depart(room, s, open)
}

func (m *Manager) dismiss(room hub.RoomID, s *seat) { m.depart(room, s, true) }

// depart counts who is there. After the last one the page has its time, or the seat goes.
func (m *Manager) depart(room hub.RoomID, s *seat, open bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
	if s.users > 0 {
		return
	}
	if open && !m.closed {
		s.idle = time.AfterFunc(m.options.Idle, func() { m.expire(room, s) })
		return
	}
	delete(m.pages, room)
	m.rest()
}

// expire closes a page that nobody has used.
func (m *Manager) expire(room hub.RoomID, s *seat) {
	m.mu.Lock()
	if s.users > 0 || m.pages[room] != s {
		m.mu.Unlock()
		return
	}
	s.users++
	m.mu.Unlock()
	s.turn <- struct{}{}
	m.shut(s)
	m.leave(room, s)
}

// rest has the engine ended when no page is left. m.mu is held.
func (m *Manager) rest() {
	if len(m.pages) > 0 || m.engine == nil || m.closed {
		return
	}
	if m.linger != nil {
		m.linger.Stop()
	}
	m.linger = time.AfterFunc(m.options.Linger, m.endIdle)
}

// endIdle ends the engine if still nobody uses it.
func (m *Manager) endIdle() {
	m.start <- struct{}{}
	defer func() { <-m.start }()
	m.mu.Lock()
	e := m.engine
	if len(m.pages) > 0 || e == nil {
		m.mu.Unlock()
		return
	}
	m.engine = nil
	m.mu.Unlock()
	e.end("no room has used it for a while")
}

// shut closes the page of a seat, whose turn the caller holds.
func (m *Manager) shut(s *seat) {
	if s.page != nil {
		s.page.close()
		s.page = nil
	}
}

// running returns the engine, and starts it if none runs.
func (m *Manager) running(ctx context.Context) (*engine, error) {
	select {
	case m.start <- struct{}{}:
	case <-ctx.Done():
		return nil, errEngineSlow()
	}
	defer func() { <-m.start }()
	m.mu.Lock()
	e, closed := m.engine, m.closed
	m.mu.Unlock()
	if closed {
		return nil, errStopped()
	}
	if e != nil {
		if !e.over() {
			return e, nil
		}
		e.end("it ended by itself")
	}
	e, err := m.startEngine(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engine = e
	return e, err
}

// Running reports whether an engine runs, and its process.
func (m *Manager) Running() (pid int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine == nil {
		return 0, false
	}
	return m.engine.process.PID, true
}

// Close ends the engine. Steps that are under way end with an error.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	for _, s := range m.pages {
		if s.idle != nil {
			s.idle.Stop()
		}
	}
	if m.linger != nil {
		m.linger.Stop()
	}
	e := m.engine
	m.mu.Unlock()
	if e != nil {
		e.end("the hub stops") // so that a step that is under way ends
	}
	m.start <- struct{}{} // a start that is under way has ended
	m.mu.Lock()
	e, m.engine = m.engine, nil
	m.mu.Unlock()
	<-m.start
	if e != nil {
		e.end("the hub stops")
	}
}

// answerMargin is kept of the time of a step for closing a page that does not answer.
const answerMargin = 5 * time.Second

var errStepOver = errors.New("the time of the step is over")
