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

// Options is what an engine is made of. All but applyHook are required.
type Options struct {
	Journal core.Journal
	Rows    core.Rows
	Log     *slog.Logger
	Views   Views
	Kinds   []Kind
	// CheckpointEvery is how many records may pass between two checkpoints.
	CheckpointEvery int
	// Settle waits until nothing is left to do that a checkpoint up to seq would
	// make the next start forget; settled reports that without waiting.
	Settle  func(seq hub.Seq) error
	Settled func(seq hub.Seq) bool
	// ApplyHook, for tests, is called before an owner applies a fact.
	ApplyHook func(core.Owner, core.Fact)
	Step      func(Step)
}

// Step names an arrow on the way of a write.
type Step string

// The steps, in their order. The first three are of one record, the others of
// one group.
const (
	StepDecided   Step = "decided"
	StepNumbered  Step = "numbered"
	StepApplied   Step = "applied"
	StepAppending Step = "appending"
	StepAppended  Step = "appended"
	StepShown     Step = "shown"
	StepAnswered  Step = "answered"
	StepRung      Step = "rung"
)

// DirtyRows is told which owners' rows come late: Hold is called before a record
// whose rows are missing is shown, Release when they are stored or will not be.
type DirtyRows interface {
	Hold(k core.Owner, seq hub.Seq)
	Release(k core.Owner, rows []core.Row)
}

// Kind is one row of the table of owner kinds.
type Kind struct {
	Kind core.OwnerKind
	// Load makes the state of an owner from its stored rows, and says which records
	// are in it, as far as that is known. nil: the kind is permanent.
	Load func(name string) (core.Machine, hub.Seq, error)

	// What follows is of permanent kinds: their owners exist from the start, are
	// never retired, and their state stands in checkpoints.
	Owners  []core.Owner
	Fresh   func() core.Machine // a state that has decided nothing yet
	Restore func(version uint16, data []byte) (core.Machine, error)
	Version uint16
	// Extend adds to an owner what it keeps beside its state; nil: nothing.
	Extend func(o *Owner) Extension
}

// Extension is what an owner keeps beside its state. All methods but Note are called
// in the owner's turns, with its state ready, unless they say otherwise.
type Extension interface {
	// Note learns of the facts of a record that has got its number.
	Note(facts []core.Fact, seq hub.Seq)
	// Begin is the first turn after a start.
	Begin()
	// End is a turn in which the hub stops: whoever waits is answered.
	End()
	// Rebuilt follows a rebuild of the state, and Reloaded a load after records were
	// taken back.
	Rebuilt()
	Reloaded()
	// Refuse answers whoever waits with an error: the owner is out of service.
	Refuse(reason error)
}

// Engine runs the owners: it admits commands, numbers what they decide, makes it
// durable and rebuilds what breaks. It knows records and no resource.
type Engine struct {
	options  Options
	log      *slog.Logger
	Journal  core.Journal
	rows     core.Rows
	view     Views
	kinds    [256]*Kind
	dirty    DirtyRows
	Clock    *clock
	stage    *runtime
	Seq      *sequencer
	Registry *registry
	Writer   *writer
	Keys     sync.Map // idempotency scopes of calls under way, [32]byte → struct{}

	QuarantineMu sync.Mutex
	Quarantine   map[core.Owner]hub.QuarantinedActor

	Stopping atomic.Bool
	Ending   chan struct{} // closed when parked calls are to be answered
	Quit     chan struct{} // closed when the background goroutines are to end
	Failed   chan struct{} // closed when the hub cannot go on (fail-stop)
	failOnce sync.Once
	Cause    error // why; set before failed is closed
	Tasks    sync.WaitGroup
	released sync.Once // whoever waits in an extension
}

// New returns an engine that does not run yet.
func New(options Options) *Engine {
	head := options.Journal.Head()
	e := &Engine{
		options: options, log: options.Log, Journal: options.Journal, rows: options.Rows, view: options.Views,
		Clock: newClock(head.HubMS), Seq: newSequencer(head), Quarantine: map[core.Owner]hub.QuarantinedActor{},
		Ending: make(chan struct{}), Quit: make(chan struct{}), Failed: make(chan struct{}),
	}
	for i := range options.Kinds {
		e.kinds[options.Kinds[i].Kind] = &options.Kinds[i]
	}
	e.stage = newRuntime(func(reason any) { e.escaped(reason) })
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

// Subscribe has committed records told, after the views show them. It is for the
// start, before the engine runs.
func (e *Engine) Subscribe(notifier interface{ Add(scopes []core.Scope) }, dirty DirtyRows, all ...subscriber) {
	e.Writer.notifier, e.Writer.subscribers, e.dirty = notifier, all, dirty
}

// Run starts the writer and the owners with what was restored.
func (e *Engine) Run(r *restored) {
	go e.Writer.serve(e.Quit)
	e.begin(r)
	e.Tasks.Go(func() { e.keepCheckpoints(r.asOf, e.Quit) })
}

// Abandon ends an engine that has not run.
func (e *Engine) Abandon() { e.stage.stop(e.Registry.close()) }

// EndParked answers every parked call and refuses new work from now on.
func (e *Engine) EndParked() {
	if e.Stopping.CompareAndSwap(false, true) {
		close(e.Ending)
	}
}

// ReleaseWaiters has every extension answer whoever waits, and waits for that.
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

// Stop ends the owners once no command is under way and makes all of it durable.
// background is waited for after that. The state is saved then.
func (e *Engine) Stop(ctx context.Context, background func()) error {
	pids := e.Registry.close() // first: what drain counts must not grow again
	err := e.drain(ctx)
	e.stage.stop(pids)
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

// Call is a turn that is one function.
type Call struct {
	Do     func(o *Owner)
	Failed func(error)
}

// Run does it.
func (c Call) Run(o *Owner) { c.Do(o) }

// Fail ends the engine: nothing is numbered any more, and all that is under way is answered store_failed. It is called once with effect.
// Fail says why it was not done.
func (c Call) Fail(err error) { c.Failed(err) }

// admissible refuses a write that cannot be taken now.
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

// escaped stops the hub after a panic that no owner can be rebuilt from.
func (e *Engine) escaped(reason any) {
	e.log.LogAttrs(context.Background(), slog.LevelError, "an actor failed for good; stopping", slog.Any("reason", reason))
	e.fail(hub.NewError(hub.CodeInternal, "an actor failed for good"))
}

// reloadOwners has the owners that keep their state in memory load it anew. The
// others do so with their next command, which is soon enough: nobody waits in them
// and no timer of theirs runs.
func (e *Engine) reloadOwners(owners map[*Owner]struct{}) {
	e.Tasks.Go(func() { // not on the writer's goroutine, which these turns may wait for
		for o := range owners {
			if e.permanent(o.key.Kind) {
				o.Tell(o.reloadTurn())
			}
		}
	})
}
