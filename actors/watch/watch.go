package watch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// How long it is remembered when the last watch of a label began, after it has ended:
// for watchesKept, or shorter if there are more than watchesKeptMost.
const (
	watchesKept     = 5 * time.Minute
	watchesKeptMost = 2_000
)

// Options are the parts of the hub that watches use. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Log    *slog.Logger
	// Acted notes that an agent acts in a room. It does not wait.
	Acted func(hub.RoomID, hub.AgentID)
	// Register begins a session.
	Register func(context.Context, hub.RegisterInput) (hub.Outcome[hub.Registered], error)
}

// Watches holds the watches that wait: at most one for each agent and label.
type Watches struct {
	view   *view.View
	engine *engine.Engine
	log    *slog.Logger
	acted  func(hub.RoomID, hub.AgentID)

	mu      sync.Mutex
	waiting map[hub.AgentID]map[string]*watch
	ended   *bounded.Map[watchKey, endedWatch]

	sessions *sessions
}

// endedWatch says when a watch began and ended.
type endedWatch struct{ began, ended hub.Time }

type watchKey struct {
	agent hub.AgentID
	label string
}

// New returns watches of which none waits yet.
func New(o Options) *Watches {
	s := &Watches{
		view: o.View, engine: o.Engine, log: o.Log, acted: o.Acted,
		waiting: map[hub.AgentID]map[string]*watch{}, ended: bounded.New[watchKey, endedWatch](watchesKeptMost),
	}
	s.sessions = &sessions{
		view: o.View, engine: o.Engine, register: o.Register, waits: s.waits,
		doubtful: map[hub.AgentID]struct{}{}, changed: make(chan struct{}, 1),
	}
	return s
}

// Serve keeps the sibling sessions of agents that watch, until quit is closed.
func (s *Watches) Serve(quit <-chan struct{}) { s.sessions.serve(quit) }

func (s *Watches) now() hub.Time { return s.engine.Clock.Now().Wall }

// waits reports whether any watch of an agent waits.
func (s *Watches) waits(agent hub.AgentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting[agent]) > 0
}

// parkedSince returns when the latest of an agent's watches began to wait, 0 if none
// waits. A stream does not count: it runs beside the work of its agent.
func (s *Watches) parkedSince(agent hub.AgentID) (since hub.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting[agent] {
		if !w.query.Stream {
			since = max(since, w.query.Began)
		}
	}
	return since
}

// streams reports whether a stream of an agent waits.
func (s *Watches) streams(agent hub.AgentID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting[agent] {
		if w.query.Stream {
			return true
		}
	}
	return false
}

func (w *watch) key() watchKey { return watchKey{w.query.Agent, w.query.Label} }

// enter makes w the only watch of its agent and label; it ends the watch before it. A
// watch that began earlier than that one is refused with watch_replaced: after a break
// the calls of both come in any order, and the earlier watch must not end the later.
func (s *Watches) enter(w *watch, now hub.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.query.Began <= 0 || w.query.Began > now {
		w.query.Began = now
	}
	of := s.waiting[w.query.Agent]
	before := of[w.query.Label]
	latest := s.lastBegan(w.key(), now)
	if before != nil {
		latest = before.query.Began
	}
	if w.query.Began < latest && latest <= now { // if latest is in the future, the clock has gone back and the times say nothing
		return errWatchReplaced(&w.query)
	}
	if of == nil {
		of = map[string]*watch{}
		s.waiting[w.query.Agent] = of
	}
	if before != nil {
		close(before.replaced)
	}
	of[w.query.Label] = w
	return nil
}

func (s *Watches) leave(w *watch, now hub.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.waiting[w.query.Agent]
	if of[w.query.Label] != w {
		return
	}
	delete(of, w.query.Label)
	if len(of) == 0 {
		delete(s.waiting, w.query.Agent)
	}
	s.ended.Put(w.key(), endedWatch{w.query.Began, now})
}

// lastBegan returns when the last watch of key began that has ended; 0 if that is
// forgotten. The caller holds the mutex.
func (s *Watches) lastBegan(key watchKey, now hub.Time) hub.Time {
	last, _ := s.ended.Get(key)
	if now-last.ended > hub.Time(watchesKept.Milliseconds()) {
		return 0
	}
	return last.began
}

// Of returns the conditions that an agent's watches wait for, and the first of their
// labels that is not empty.
func (s *Watches) Of(agent hub.AgentID) (label string, conditions []string, parked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.waiting[agent]
	for l, w := range of {
		if l != "" && (label == "" || l < label) {
			label = l
		}
		for _, c := range w.query.Until {
			conditions = append(conditions, c.Text)
		}
	}
	slices.Sort(conditions)
	return label, slices.Compact(conditions), len(of) > 0
}

// Watch returns when all conditions hold, the wait is over or the hub stops; see
// hub.Watches. It first refuses conditions that name an id which does not exist: such
// a condition would never hold.
func (s *Watches) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	if q.Room != "" {
		room, err := s.view.Room(q.Room)
		if err != nil {
			return hub.Watched{}, err
		}
		q.Room = room.RoomID
	}
	w := &watch{view: s.view, now: s.now, query: q, sees: view.ViewerOf(ctx, q.Agent), replaced: make(chan struct{}), parked: s.parkedSince}
	if err := w.prepare(); err != nil {
		return hub.Watched{}, err
	}
	if next, err := w.successor(); err != nil || next.AgentID != "" {
		return next, err
	}
	if q.Room != "" {
		s.acted(q.Room, q.Agent)
	}
	got, _, err := w.evaluate()
	waits := err == nil && !got.Met && !got.Stuck && q.Wait > 0
	if err == nil && !waits {
		w.closesCircle(&got)
	}
	if waits {
		if got, err = s.park(ctx, w); got.AgentID != q.Agent { // it names the successor, or err says why not
			return got, err
		}
	} else if err == nil && got.Met && q.Wait > 0 {
		s.view.Directory.Woke(q.Agent, s.now())
	}
	if err == nil {
		got.Streamed = s.streams(q.Agent)
		if err = w.describe(&got); err == nil && !w.handsOut(ctx, &got) {
			return s.Watch(ctx, q)
		}
	}
	if n := len(got.Messages); err == nil && got.Met && n > 0 {
		s.view.NoteOffer(q.Agent, got.Messages[0].ID-1, got.Messages[n-1].ID, hub.OfferedByWatch, s.now())
		path := hub.GivenByWatch
		if q.Stream {
			path = hub.GivenByStream
		}
		s.view.RationRows(ctx, q.Agent, got.Messages, s.now())
		s.view.NoteShown(ctx, q.Agent, path, got.Messages, s.now())
	}
	if waits && err == nil && got.Met && !q.Stream {
		s.notify(&got, q.Label)
	}
	return got, err
}

// successor returns the answer to a stream whose agent goes on under another id: it names
// that agent, and the stream goes on with it. The answer is empty if there is no other id.
func (w *watch) successor() (hub.Watched, error) {
	if !w.query.Stream {
		return hub.Watched{}, nil
	}
	next, err := w.view.Successor(w.query.Agent)
	if err != nil || next == w.query.Agent {
		return hub.Watched{}, err
	}
	return hub.Watched{RoomID: w.query.Room, AgentID: next, HeadID: w.query.After, NextSinceID: w.query.After}, nil
}

// park waits for a watch. The call counts for the sibling agent: it is no sign of life
// of the agent itself, and has a limit of its own.
func (s *Watches) park(ctx context.Context, w *watch) (hub.Watched, error) {
	sibling := w.query.Agent.Watch()
	call, err := s.view.Directory.Park(hub.CallerOf(ctx), sibling, hub.ParkedWatch)
	if err != nil {
		return hub.Watched{}, watchesOf(err, w.query.Agent)
	}
	if w.query.Stream {
		s.view.Directory.Streams(call)
	}
	if err := s.enter(w, s.now()); err != nil {
		s.view.Directory.Unpark(call)
		return hub.Watched{}, err
	}
	s.sessions.check(w.query.Agent)
	defer func() {
		now := s.now()
		s.leave(w, now)
		s.view.Directory.Touch(sibling, now)
		s.view.Directory.Unpark(call)
		s.sessions.check(w.query.Agent)
		s.view.Directory.Changed(w.query.Agent)
	}()
	s.view.Directory.Changed(w.query.Agent)
	if !w.query.Stream {
		defer s.view.Waiters.Expect(w.query.Agent, w.query.Until, w.query.Began)()
		if got, _, err := w.evaluate(); err == nil && w.closesCircle(&got) {
			return got, nil
		}
	}
	got, err := s.wait(ctx, w)
	if err == nil && got.Met { // before the wait counts as ended
		s.view.Directory.Woke(w.query.Agent, s.now())
	}
	return got, err
}

// wait evaluates whenever a scope of a condition has news, and at the instant at which
// a condition may begin to hold by itself. It examines only new messages then, so news
// cost the same however many messages are unread.
func (s *Watches) wait(ctx context.Context, w *watch) (hub.Watched, error) {
	caller := hub.CallerOf(ctx)
	news := s.view.Notifier.Subscribe(w.scopes(caller))
	defer news.Close()
	over, due := time.NewTimer(w.query.Wait), time.NewTimer(w.query.Wait)
	defer over.Stop()
	defer due.Stop()
	for {
		if s.view.Displaced(caller) {
			return hub.Watched{}, engine.ErrSessionReplaced(caller.Agent)
		}
		if next, err := w.successor(); err != nil || next.AgentID != "" {
			return next, err
		}
		got, again, err := w.evaluate()
		if err != nil || got.Met || got.Stuck {
			return got, err
		}
		if due.Stop(); again > 0 {
			due.Reset(again)
		}
		select {
		case <-news.C:
		case <-due.C:
		case <-w.replaced:
			return hub.Watched{}, errWatchReplaced(&w.query)
		case <-over.C:
			return got, nil
		case <-ctx.Done():
			return got, nil
		case <-s.engine.Ending:
			return got, nil
		}
	}
}

// watchesOf makes a refusal of too many parked calls say that they are watches.
func watchesOf(err error, agent hub.AgentID) error {
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != hub.CodeTooManyPolls {
		return err
	}
	return hub.Errorf(e.Code, "agent %s already has %d watches waiting", agent, hub.MaxParkedPerAgent).
		With("limit", hub.MaxParkedPerAgent).WithRetryAfter(engine.RetryAfterSec).
		WithFix("let one of them end, or wait for several things in one watch: until may be given several times")
}

func errWatchReplaced(q *hub.WatchQuery) error {
	return hub.Errorf(hub.CodeWatchReplaced, "a later watch of agent %s with the same label has replaced this one", q.Agent).
		With("agent_id", q.Agent).With("label", q.Label).
		WithFix("let the later one wait; give each watch a label of its own to have several")
}

// notify leaves a wake notice in the agent's inbox, in a record of its own, before the
// watch answers: the hub does not notice when the process that waits dies.
func (s *Watches) notify(got *hub.Watched, label string) {
	m := core.WatchNotice(got, label)
	_, _, err := engine.Submit(context.Background(), s.engine, engine.Command[*core.Agent, hub.MessageID, struct{}]{
		Owner: core.AgentOwner(m.To), Size: len(m.Body) + len(m.Metadata),
		Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.MessageID], error) { return a.Deliver(m), nil },
		Answer: func(hub.MessageID, *core.Record) struct{} { return struct{}{} },
	})
	if err != nil {
		s.log.LogAttrs(context.Background(), slog.LevelWarn, "wake notice not posted",
			slog.String("agent", string(m.To)), slog.Any("error", err))
	}
}
