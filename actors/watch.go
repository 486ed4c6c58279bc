package actors

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// How long it is remembered when the last watch of a label began that no longer
// waits: once to twice as long as watchesKept, less if there are more of them.
const (
	watchesKept     = 5 * time.Minute
	watchesKeptMost = 2_000
)

// watches are the watches that wait, at most one of an agent and a label.
type watches struct {
	mu      sync.Mutex
	waiting map[hub.AgentID]map[string]*watch
	// ended and endedBefore say when those began that wait no more, in two
	// generations: the older is dropped at once.
	ended, endedBefore map[watchKey]hub.Time
	turned             hub.Time                 // when endedBefore was dropped last
	doubtful           map[hub.AgentID]struct{} // whose sibling session may have to begin or end; see keepWatchers
	changed            chan struct{}            // there are such; capacity 1
}

type watchKey struct {
	agent hub.AgentID
	label string
}

func newWatches() *watches {
	return &watches{
		waiting: map[hub.AgentID]map[string]*watch{}, ended: map[watchKey]hub.Time{},
		doubtful: map[hub.AgentID]struct{}{}, changed: make(chan struct{}, 1),
	}
}

// watch is one call that waits for its conditions.
type watch struct {
	hub      *Hub
	query    hub.WatchQuery
	operator bool // sees every task
	replaced chan struct{}
	tests    []test // one of each condition
}

func (w *watch) key() watchKey { return watchKey{w.query.Agent, w.query.Label} }

// enter makes w the agent's one watch of its label; the one before ends. A watch
// that began before that one is refused: after a break the calls of both come in
// any order, and the later one must not be evicted by what it has replaced.
// watch_replaced.
func (s *watches) enter(w *watch, now hub.Time) error {
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
	if w.query.Began < latest && latest <= now { // beyond now, the clock has gone back and tells nothing
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

func (s *watches) leave(w *watch, now hub.Time) {
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
	s.turn(now)
	s.ended[w.key()] = w.query.Began
}

// lastBegan returns when the watch began that waited last; 0 if that is forgotten.
// The mutex is held.
func (s *watches) lastBegan(key watchKey, now hub.Time) hub.Time {
	s.turn(now)
	return max(s.ended[key], s.endedBefore[key])
}

// turn forgets the older generation when its time has come, or both.
func (s *watches) turn(now hub.Time) {
	kept := hub.Time(watchesKept.Milliseconds())
	if since := now - s.turned; since >= 0 && since < kept && len(s.ended) < watchesKeptMost {
		return
	} else if since >= 2*kept {
		s.ended = nil
	}
	s.endedBefore, s.ended, s.turned = s.ended, map[watchKey]hub.Time{}, now
}

// of returns what an agent's watches wait for, and a label of them: the first
// that is not empty.
func (s *watches) of(agent hub.AgentID) (label string, conditions []string, parked bool) {
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
// hub.Watches. What it names is looked for first: an id that does not exist would
// never hold.
func (h *Hub) Watch(ctx context.Context, q hub.WatchQuery) (hub.Watched, error) {
	room, err := h.view.Room(q.Room)
	if err != nil {
		return hub.Watched{}, err
	}
	q.Room = room.RoomID
	w := &watch{hub: h, query: q, operator: hub.CallerOf(ctx).Operator, replaced: make(chan struct{})}
	if err := w.prepare(ctx); err != nil {
		return hub.Watched{}, err
	}
	h.seating.acts(roomAgent{q.Room, q.Agent}, act{at: h.engine.Clock.Now().Wall})
	got, _, err := w.evaluate()
	waits := err == nil && !got.Met && q.Wait > 0
	if waits {
		got, err = h.parkWatch(ctx, w)
	}
	if err == nil {
		err = w.describe(&got)
	}
	if waits && err == nil && got.Met {
		h.notifyWatch(&got, q.Label)
	}
	return got, err
}

// parkWatch waits for a watch. Its calls count for the sibling agent, so that
// they are no sign of life of the agent itself, and have a limit of their own.
func (h *Hub) parkWatch(ctx context.Context, w *watch) (hub.Watched, error) {
	sibling := w.query.Agent.Watch()
	if err := h.view.Directory.Park(sibling); err != nil {
		return hub.Watched{}, watchesOf(err, w.query.Agent)
	}
	if err := h.watches.enter(w, h.engine.Clock.Now().Wall); err != nil {
		h.view.Directory.Unpark(sibling)
		return hub.Watched{}, err
	}
	h.watches.check(w.query.Agent)
	defer func() {
		now := h.engine.Clock.Now().Wall
		h.watches.leave(w, now)
		h.view.Directory.Touch(sibling, now)
		h.view.Directory.Unpark(sibling)
		h.watches.check(w.query.Agent)
		h.view.Directory.Changed(w.query.Agent)
	}()
	h.view.Directory.Changed(w.query.Agent)
	return w.wait(ctx)
}

// wait evaluates whenever something has rung that a condition depends on, and at
// the instant at which one may begin to hold by itself. What it looks at then is
// what is new: a ring costs the same however much is unread.
func (w *watch) wait(ctx context.Context) (hub.Watched, error) {
	caller := hub.CallerOf(ctx)
	news := w.hub.view.Notifier.Subscribe(w.scopes(caller))
	defer news.Close()
	over, due := time.NewTimer(w.query.Wait), time.NewTimer(w.query.Wait)
	defer over.Stop()
	defer due.Stop()
	for {
		if err := w.hub.replaced(caller); err != nil {
			return hub.Watched{}, err
		}
		got, again, err := w.evaluate()
		if err != nil || got.Met {
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
		case <-w.hub.engine.Ending:
			return got, nil
		}
	}
}

// watchesOf says of a refusal to park that the calls are watches.
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

// notifyWatch leaves a wake notice in the agent's inbox, in a record of its own
// before the watch answers: the process that waited may have died unnoticed.
func (h *Hub) notifyWatch(got *hub.Watched, label string) {
	m := core.WatchNotice(got, label)
	_, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Agent, hub.MessageID, struct{}]{
		Owner: core.AgentOwner(m.To), Size: len(m.Body) + len(m.Metadata),
		Decide: func(a *core.Agent, _ core.Now) (core.Decision[hub.MessageID], error) { return a.Deliver(m), nil },
		Answer: func(hub.MessageID, *core.Record) struct{} { return struct{}{} },
	})
	if err != nil {
		h.log.LogAttrs(context.Background(), slog.LevelWarn, "wake notice not posted",
			slog.String("agent", string(m.To)), slog.Any("error", err))
	}
}
