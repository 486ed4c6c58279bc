package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Options are the parts of an engine. All but ApplyHook are required.
type Options struct {
	Journal core.Journal
	Rows    core.Rows
	Log     *slog.Logger
	Views   Views
	Kinds   []Kind
	// CheckpointEvery is how many records may pass between two checkpoints.
	CheckpointEvery int
	// Settle waits until all follow-up work of the records up to seq is recorded. A
	// start derives such work from the records behind its checkpoint only, so a
	// checkpoint must not be saved before. Settled reports the same without waiting.
	Settle  func(seq hub.Seq) error
	Settled func(seq hub.Seq) bool
	// ApplyHook, for tests, is called before an owner applies a fact.
	ApplyHook func(core.Owner, core.Fact)
	// Step is called at each step of a write, on the goroutine that takes it.
	Step func(Step)
}

// Step names a point on the way of a write; see the package comment.
type Step string

// The steps, in their order. The first three happen once for each record, the
// others once for each group.
const (
	StepDecided   Step = "decided"
	StepNumbered  Step = "numbered"
	StepApplied   Step = "applied"
	StepAppending Step = "appending"
	StepAppended  Step = "appended"
	StepShown     Step = "shown"
	StepAnswered  Step = "answered"
	StepNotified  Step = "notified"
)

// DirtyRows learns which owners lack stored rows after a panic in Apply. Hold is
// called before the record with the missing rows is shown. Release is called when the
// rows are stored, or when it is known that they never will be.
type DirtyRows interface {
	Hold(k core.Owner, seq hub.Seq)
	Release(k core.Owner, rows []core.Row)
}

// Kind is one row of the table of owner kinds.
type Kind struct {
	Kind core.OwnerKind
	// Load makes the state of an owner from its stored rows. It returns the last
	// record that is surely in the state, or 0. nil: the kind is permanent.
	Load func(name string) (core.Machine, hub.Seq, error)

	// The following fields belong to permanent kinds. The owners of a permanent kind
	// exist from the start, are never retired, and have their state in checkpoints.
	Owners  []core.Owner
	Fresh   func() core.Machine // a state that has decided nothing yet
	Restore func(version uint16, data []byte) (core.Machine, error)
	Version uint16
	// Extend makes the extension of an owner; nil: the kind has none.
	Extend func(o *Owner) Extension
}

// Extension is data that an owner keeps in memory beside its state, such as the
// commands that wait for a lease. It is lost at a crash and is not journaled. All
// methods are called in the owner's turns. Refuse may find the state dirty.
type Extension interface {
	// Note learns the facts of a record that was just numbered and is not applied yet.
	Note(facts []core.Fact, seq hub.Seq)
	// Begin is the first turn after a start.
	Begin()
	// End is the last turn before a stop: it answers the commands that wait.
	End()
	// Rebuilt follows a rebuild of the state. Reloaded follows a load of the state
	// after records were taken back.
	Rebuilt()
	Reloaded()
	// Refuse answers the commands that wait with reason: the owner is out of service.
	Refuse(reason error)
}

// Engine runs the owners; see the package comment.
type Engine struct {
	options  Options
	log      *slog.Logger
	Journal  core.Journal
	rows     core.Rows
	view     Views
	kinds    [256]*Kind
	dirty    DirtyRows
	Clock    *clock
	runtime  *runtime
	Seq      *sequencer
	Registry *registry
	Writer   *writer
	Keys     sync.Map // idempotency scopes of calls under way, [32]byte → struct{}

	quarantine *quarantine

	Stopping atomic.Bool
	Ending   chan struct{} // closed when parked calls are to be answered
	Quit     chan struct{} // closed when the background goroutines are to end
	Failed   chan struct{} // closed when the hub cannot go on (fail-stop)
	failOnce sync.Once
	Cause    error // why the hub cannot go on; set before Failed is closed
	Tasks    sync.WaitGroup
	released sync.Once // guards ReleaseWaiters
}

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
	e.Registry = newRegistry(e)
	e.Writer = &writer{
		seq: e.Seq, journal: e.Journal, view: e.view, log: e.log, clock: e.Clock,
		failed: e.fail, withdrawn: e.reloadOwners, step: options.Step, Done: make(chan struct{}),
	}
	return e
}

// PermanentOwners lists the owners whose state stands in checkpoints.
func (e *Engine) PermanentOwners() (owners []core.Owner) {
	for i := range e.options.Kinds {
		owners = append(owners, e.options.Kinds[i].Owners...)
	}
	return owners
}

// permanent reports whether owners of this kind hold live state and are never
// retired.
func (e *Engine) permanent(k core.OwnerKind) bool { return e.kinds[k] != nil && e.kinds[k].Load == nil }

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
func (e *Engine) Abandon() { e.runtime.stop(e.Registry.close()) }

// EndParked answers every parked call and refuses new work from now on.
func (e *Engine) EndParked() {
	if e.Stopping.CompareAndSwap(false, true) {
		close(e.Ending)
	}
}

// ReleaseWaiters has every extension answer the commands that wait in it, and returns
// when all have done so.
func (e *Engine) ReleaseWaiters() {
	e.released.Do(func() {
		for _, k := range e.PermanentOwners() {
			o, ok := e.Registry.Find(k)
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
	pids := e.Registry.close()
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
	for e.Registry.Underway() > 0 {
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

// Call is a turn made of two functions.
type Call struct {
	Do     func(o *Owner)
	Failed func(error)
}

// Run calls Do.
func (c Call) Run(o *Owner) { c.Do(o) }

// Fail calls Failed with the reason why Do was not called.
func (c Call) Fail(err error) { c.Failed(err) }

// admissible refuses a write while the hub stops or its disk is full.
func (e *Engine) admissible() error {
	if e.Stopping.Load() {
		return ErrStopping()
	}
	if ok, free := e.Journal.Room(); !ok {
		return ErrStorageFull(free)
	}
	return nil
}

// ErrStorageFull is the answer to a write for which the disk has no room.
func ErrStorageFull(free int64) error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the store is full; reading goes on, writing does not").
		With("free_bytes", free).WithFix("free space on the disk; the hub goes on by itself")
}

// fail stops the hub after an error of unknown outcome: nothing is numbered any more,
// and every command under way is answered with store_failed. Only the first call has
// an effect.
func (e *Engine) fail(cause error) {
	e.failOnce.Do(func() {
		e.Cause = cause
		close(e.Failed)
		e.EndParked()
		answer := errStoreFailed()
		for _, s := range e.Seq.fail(answer) {
			if s.deliver != nil {
				s.deliver(answer)
			}
		}
	})
}

// escaped stops the hub after a panic that a rebuild cannot mend.
func (e *Engine) escaped(reason any) {
	e.log.LogAttrs(context.Background(), slog.LevelError, "an actor failed for good; stopping", slog.Any("reason", reason))
	e.fail(hub.NewError(hub.CodeInternal, "an actor failed for good"))
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
