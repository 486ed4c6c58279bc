package engine

import (
	"context"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// New returns an engine that does not run yet.
func New(options Options) *Engine {
	head := options.Journal.Head()
	e := &Engine{
		options: options, log: options.Log, Journal: options.Journal, rows: options.Rows, view: options.Views,
		Clock: newClock(head.HubMS), Seq: newSequencer(head),
		Ending: make(chan struct{}), Quit: make(chan struct{}), Failed: make(chan struct{}),
	}
	for i := range options.Kinds {
		e.kinds[options.Kinds[i].Kind] = &options.Kinds[i]
	}
	e.quarantine = &quarantine{
		rows: e.rows, journal: e.Journal, log: e.log, fail: e.fail,
		now: map[core.Owner]hub.QuarantinedActor{}, old: map[core.Owner]quarantineRow{},
	}
	e.runtime = newRuntime(func(reason any) { e.escaped(reason) })
	e.registry = newRegistry(e)
	e.Writer = &writer{
		seq: e.Seq, journal: e.Journal, view: e.view, log: e.log, clock: e.Clock,
		failed: e.fail, withdrawn: e.reloadOwners, step: options.Step, Done: make(chan struct{}),
	}
	return e
}

// Subscribe sets the parts that learn of committed records after the views show
// them. It must be called before Run.
func (e *Engine) Subscribe(notifier interface{ Add(scopes []core.Scope) }, dirty DirtyRows, all ...subscriber) {
	e.Writer.notifier, e.Writer.subscribers, e.dirty = notifier, all, dirty
}

// Run starts the writer and the owners, with the state that Restore returned.
func (e *Engine) Run(r *restored) {
	go e.Writer.serve(e.Quit)
	e.begin(r)
	e.Tasks.Go(func() { e.keepCheckpoints(r.asOf, e.Quit) })
}

// Abandon ends an engine on which Run was never called.
func (e *Engine) Abandon() { e.runtime.stop(e.registry.close()) }

// ReleaseWaiters has every extension answer the commands that wait in it, and returns
// when all have done so.
func (e *Engine) ReleaseWaiters() {
	e.released.Do(func() {
		for _, k := range e.permanentOwners() {
			o, ok := e.registry.find(k)
			if !ok || o.Extension == nil {
				continue
			}
			done := make(chan struct{})
			o.Tell(Call{func(o *Owner) { o.Extension.End(); close(done) }, func(error) { close(done) }})
			<-done
		}
	})
}

// Stop ends the engine. The order matters:
//
//  1. The registry admits nothing more, so the number of commands only falls.
//  2. Stop waits until no command is under way. ctx bounds only this wait.
//  3. The owners end, so nothing more is numbered.
//  4. The writer commits what is pending and ends.
//  5. background returns when the hub's other goroutines have ended.
//  6. The state is saved as a checkpoint. A hub that has failed saves none: the state
//     of its owners is ahead of the disk.
func (e *Engine) Stop(ctx context.Context, background func()) error {
	pids := e.registry.close()
	err := e.drain(ctx)
	e.runtime.stop(pids)
	close(e.Quit)
	<-e.Writer.Done
	background()
	e.Tasks.Wait()
	select {
	case <-e.Failed: // its state is ahead of the disk
		return e.Cause
	default:
	}
	if err != nil {
		return err
	}
	return e.checkpointStopped()
}

// drain waits until no command is under way.
func (e *Engine) drain(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for e.registry.commands.Load() > 0 {
		select {
		case <-tick.C:
		case <-e.Failed:
			return e.Cause
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// reloadOwners tells the permanent owners to load their state anew, after records of
// theirs were taken back. Owners of other kinds do that with their next command. That
// is soon enough: they have no waiting commands and no timers.
func (e *Engine) reloadOwners(owners map[*Owner]struct{}) {
	// Not on the writer's goroutine: Tell may run the turn here, and the turn may wait
	// for the writer.
	e.Tasks.Go(func() {
		for o := range owners {
			if e.permanent(o.key.Kind) {
				o.Tell(o.reloadTurn())
			}
		}
	})
}
