package leases

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
)

// Handover has the claims and locks for a task follow the task to its new
// assignee, or to its end. It is a process of two steps, each a record of its
// owner:
//
//  1. The owner of tasks notes, with the new assignee, which agent had the task,
//     or, with the end, whose leases are released.
//  2. Each owner of leases passes or releases those (core.Leases.Pass).
//
// The second step follows from the first alone: which leases have still to pass
// is read from the task and the leases themselves. So a start looks at all
// tasks and leases again, and a repetition finds nothing to do.
type Handover struct {
	view   *view.View
	engine *engine.Engine
	log    *slog.Logger

	mu   sync.Mutex
	due  map[hub.TaskID]*passing
	wake chan struct{} // something is due; capacity 1
}

// passing is a task whose leases have to pass.
type passing struct {
	taken bool          // the owners of leases decide now
	again bool          // the task has passed on or ended since
	tried chan struct{} // closed after the first try
}

// passAgain is how long the process waits before it repeats a step that a full
// disk or a full queue has refused.
const passAgain = time.Second

// NewHandover returns the process. The engine need not run yet.
func NewHandover(v *view.View, e *engine.Engine, log *slog.Logger) *Handover {
	return &Handover{view: v, engine: e, log: log, due: map[hub.TaskID]*passing{}, wake: make(chan struct{}, 1)}
}

// Shown learns from a committed record which tasks have passed on.
func (h *Handover) Shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind != core.OwnerTasks {
		return
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *core.TaskChanged:
			if f.Passes || len(f.Release) > 0 {
				h.add(f.Task)
			}
		case *core.OfferEnded:
			if f.Passes {
				h.add(f.Task)
			}
		}
	}
}

func (h *Handover) add(id hub.TaskID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.due[id]; p != nil {
		p.again = p.taken
		return
	}
	h.due[id] = &passing{tried: make(chan struct{})}
	h.ring()
}

func (h *Handover) ring() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Await waits until the leases for a task that has passed on or ended have
// followed it, or cannot follow yet.
func (h *Handover) Await(ctx context.Context, id hub.TaskID) {
	h.mu.Lock()
	p := h.due[id]
	h.mu.Unlock()
	if p == nil {
		return
	}
	select {
	case <-p.tried:
	case <-ctx.Done():
	case <-h.engine.Quit:
	case <-h.engine.Failed:
	}
}

// Serve takes the second step for each task that is due, until quit is closed.
func (h *Handover) Serve(quit <-chan struct{}) {
	h.takeUp()
	for {
		select {
		case <-h.wake:
		case <-quit:
			return
		}
		var asked sync.WaitGroup
		for _, id := range h.take() {
			asked.Go(func() { h.done(id, h.pass(id)) })
		}
		asked.Wait()
	}
}

// maxPass bounds the leases that pass in one record.
const maxPass = 400

// takeUp makes all tasks due for which a lease is held: an earlier process may
// not have taken the second step.
func (h *Handover) takeUp() {
	ids := map[hub.TaskID]bool{}
	for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
		if _, err := h.view.Leases.List(space, func(l *core.Lease) bool { ids[l.ForTask()] = true; return false }); err != nil {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "leases whose tasks have passed on or ended stay as they are", slog.Any("error", err))
		}
	}
	delete(ids, 0)
	for id := range ids {
		h.add(id)
	}
}

// lanes bounds the tasks whose leases pass at once: they share commits.
const lanes = 16

// take returns tasks that are due and marks them.
func (h *Handover) take() (ids []hub.TaskID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, p := range h.due {
		if len(ids) == lanes {
			h.ring()
			break
		}
		if !p.taken {
			p.taken = true
			ids = append(ids, id)
		}
	}
	return ids
}

// done ends a try. A task that has passed on since, or whose leases could not
// pass, stays due.
func (h *Handover) done(id hub.TaskID, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.due[id]
	select {
	case <-p.tried:
	default:
		close(p.tried)
		if err != nil {
			h.log.LogAttrs(context.Background(), slog.LevelWarn, "leases for a task could not follow it to its assignee or its end yet",
				slog.Int64("task", int64(id)), slog.Any("error", err))
		}
	}
	switch {
	case err != nil:
		time.AfterFunc(passAgain, func() { h.retry(id) })
	case p.again:
		p.taken, p.again = false, false
		h.ring()
	default:
		delete(h.due, id)
	}
}

func (h *Handover) retry(id hub.TaskID) {
	if h.engine.Stopping.Load() {
		return // the next start takes it up
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due[id].taken, h.due[id].again = false, false
	h.ring()
}

// pass has every owner of leases that follow the task pass or release them.
func (h *Handover) pass(id hub.TaskID) error {
	task, err := h.view.AnyTask(id)
	if errors.Is(err, core.ErrNotFound) {
		return nil // the leases name a task that there is not
	}
	if err != nil {
		return err
	}
	if task.Task.Status.Terminal() {
		task.Former = nil
	}
	keys := map[core.Owner][]core.LeaseKey{}
	for _, holder := range slices.Concat(task.Former, task.Released) {
		if err := h.view.Leases.Of(holder.Agent, 0, func(l *core.Lease) {
			if task.Takes(l) || task.Frees(l) {
				owner := core.LeaseOwner(core.LeaseShard(l.LeaseKey()))
				keys[owner] = append(keys[owner], l.LeaseKey())
			}
		}); err != nil {
			return err
		}
	}
	for owner, all := range keys {
		slices.SortFunc(all, core.LeaseKey.Compare)
		for some := range slices.Chunk(all, maxPass) {
			if err := h.ask(owner, core.PassCommand{Task: task, Keys: some}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask has one owner decide.
func (h *Handover) ask(owner core.Owner, c core.PassCommand) error {
	p, _, err := engine.Admit(context.Background(), h.engine, engine.Command[*core.Leases, int, int]{
		Owner: owner, Caller: &hub.Caller{}, Late: true,
		Decide: func(l *core.Leases, now core.Now) (core.Decision[int], error) { return l.Pass(c, now), nil },
		Answer: func(n int, _ *core.Record) int { return n },
	})
	if err != nil {
		return err
	}
	p.Permit.Owner.Tell(&passTurn{p, c.Keys})
	_, err = p.Wait()
	return err
}

// passTurn passes or releases leases in the turn of their owner.
type passTurn struct {
	*engine.Pending[*core.Leases, int, int]
	keys []core.LeaseKey
}

// Run decides, and then serves the requests that wait for these leases.
func (p *passTurn) Run(o *engine.Owner) {
	t, now := o.Extension.(*queue), p.Engine.Clock.Now()
	p.Pending.Run(o)
	for _, k := range p.keys {
		t.serveFreed(now, k)
	}
}
