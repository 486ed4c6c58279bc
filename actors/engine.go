package actors

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// engineOptions is what an engine is made of. All but applyHook are required.
type engineOptions struct {
	journal core.Journal
	rows    core.Rows
	log     *slog.Logger
	views   Views
	kinds   []kind
	// checkpointEvery is how many records may pass between two checkpoints.
	checkpointEvery int
	// settle waits until nothing is left to do that a checkpoint up to seq would
	// make the next start forget; settled reports that without waiting.
	settle  func(seq hub.Seq) error
	settled func(seq hub.Seq) bool
	// applyHook, for tests, is called before an owner applies a fact.
	applyHook func(core.Owner, core.Fact)
	step      func(Step)
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

// dirtyRows is told which owners' rows come late: hold is called before a record
// whose rows are missing is shown, release when they are stored or will not be.
type dirtyRows interface {
	hold(k core.Owner, seq hub.Seq)
	release(k core.Owner, rows []core.Row)
}

// kind is one row of the table of owner kinds.
type kind struct {
	kind core.OwnerKind
	// load makes the state of an owner from its stored rows, and says which records
	// are in it, as far as that is known. nil: the kind is permanent.
	load func(name string) (core.Machine, hub.Seq, error)

	// What follows is of permanent kinds: their owners exist from the start, are
	// never retired, and their state stands in checkpoints.
	owners  []core.Owner
	fresh   func() core.Machine // a state that has decided nothing yet
	restore func(version uint16, data []byte) (core.Machine, error)
	version uint16
	// extend adds to an owner what it keeps beside its state; nil: nothing.
	extend func(o *owner) extension
}

// extension is what an owner keeps beside its state. All methods but note are called
// in the owner's turns, with its state ready, unless they say otherwise.
type extension interface {
	// note learns of the facts of a record that has got its number.
	note(facts []core.Fact, seq hub.Seq)
	// begin is the first turn after a start.
	begin()
	// end is a turn in which the hub stops: whoever waits is answered.
	end()
	// rebuilt follows a rebuild of the state, and reloaded a load after records were
	// taken back.
	rebuilt()
	reloaded()
	// refuse answers whoever waits with an error: the owner is out of service.
	refuse(reason error)
}

// engine runs the owners: it admits commands, numbers what they decide, makes it
// durable and rebuilds what breaks. It knows records and no resource.
type engine struct {
	options  engineOptions
	log      *slog.Logger
	journal  core.Journal
	rows     core.Rows
	view     Views
	kinds    [256]*kind
	dirty    dirtyRows
	clock    *clock
	stage    *stage
	seq      *sequencer
	registry *registry
	writer   *writer
	keys     sync.Map // idempotency scopes of calls under way, [32]byte → struct{}

	quarantineMu sync.Mutex
	quarantine   map[core.Owner]hub.QuarantinedActor

	stopping atomic.Bool
	ending   chan struct{} // closed when parked calls are to be answered
	quit     chan struct{} // closed when the background goroutines are to end
	failed   chan struct{} // closed when the hub cannot go on (fail-stop)
	failOnce sync.Once
	cause    error // why; set before failed is closed
	tasks    sync.WaitGroup
	released sync.Once // whoever waits in an extension
}

// newEngine returns an engine that does not run yet.
func newEngine(options engineOptions) *engine {
	head := options.journal.Head()
	e := &engine{
		options: options, log: options.log, journal: options.journal, rows: options.rows, view: options.views,
		clock: newClock(head.HubMS), seq: newSequencer(head), quarantine: map[core.Owner]hub.QuarantinedActor{},
		ending: make(chan struct{}), quit: make(chan struct{}), failed: make(chan struct{}),
	}
	for i := range options.kinds {
		e.kinds[options.kinds[i].kind] = &options.kinds[i]
	}
	e.stage = newStage(func(reason any) { e.escaped(reason) })
	e.registry = newRegistry(e)
	e.writer = &writer{
		seq: e.seq, journal: e.journal, view: e.view, log: e.log, clock: e.clock,
		failed: e.fail, withdrawn: e.reloadOwners, step: options.step, done: make(chan struct{}),
	}
	return e
}

// permanentOwners lists the owners whose state stands in checkpoints.
func (e *engine) permanentOwners() (owners []core.Owner) {
	for i := range e.options.kinds {
		owners = append(owners, e.options.kinds[i].owners...)
	}
	return owners
}

// permanent reports whether owners of this kind hold live state and are never
// retired.
func (e *engine) permanent(k core.OwnerKind) bool { return e.kinds[k] != nil && e.kinds[k].load == nil }

// subscribe has committed records told, after the views show them. It is for the
// start, before the engine runs.
func (e *engine) subscribe(notifier interface{ Add(scopes []core.Scope) }, dirty dirtyRows, all ...subscriber) {
	e.writer.notifier, e.writer.subscribers, e.dirty = notifier, all, dirty
}

// run starts the writer and the owners with what was restored.
func (e *engine) run(r *restored) {
	go e.writer.serve(e.quit)
	e.begin(r)
	e.tasks.Go(func() { e.keepCheckpoints(r.asOf, e.quit) })
}

// abandon ends an engine that has not run.
func (e *engine) abandon() { e.stage.stop(e.registry.close()) }

// endParked answers every parked call and refuses new work from now on.
func (e *engine) endParked() {
	if e.stopping.CompareAndSwap(false, true) {
		close(e.ending)
	}
}

// releaseWaiters has every extension answer whoever waits, and waits for that.
func (e *engine) releaseWaiters() {
	e.released.Do(func() {
		for _, k := range e.permanentOwners() {
			o, ok := e.registry.find(k)
			if !ok || o.extension == nil {
				continue
			}
			done := make(chan struct{})
			o.tell(call{func(o *owner) { o.extension.end(); close(done) }, func(error) { close(done) }})
			<-done
		}
	})
}

// stop ends the owners once no command is under way and makes all of it durable.
// background is waited for after that. The state is saved then.
func (e *engine) stop(ctx context.Context, background func()) error {
	pids := e.registry.close() // first: what drain counts must not grow again
	err := e.drain(ctx)
	e.stage.stop(pids)
	close(e.quit)
	<-e.writer.done
	background()
	e.tasks.Wait()
	select {
	case <-e.failed: // its state is ahead of the disk
		return e.cause
	default:
	}
	if err != nil {
		return err
	}
	return e.checkpointStopped()
}

// drain waits until no command is under way.
func (e *engine) drain(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for e.registry.underway() > 0 {
		select {
		case <-tick.C:
		case <-e.failed:
			return e.cause
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// call is a turn that is one function.
type call struct {
	do     func(o *owner)
	failed func(error)
}

func (c call) run(o *owner)   { c.do(o) }
func (c call) fail(err error) { c.failed(err) }

// admissible refuses a write that cannot be taken now.
func (e *engine) admissible() error {
	if e.stopping.Load() {
		return errStopping()
	}
	if ok, free := e.journal.Room(); !ok {
		return errStorageFull(free)
	}
	return nil
}

func errStorageFull(free int64) error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the store is full; reading goes on, writing does not").
		With("free_bytes", free).WithFix("free space on the disk; the hub goes on by itself")
}

func (e *engine) fail(cause error) {
	e.failOnce.Do(func() {
		e.cause = cause
		close(e.failed)
		e.endParked()
		answer := errStoreFailed()
		for _, s := range e.seq.fail(answer) {
			if s.deliver != nil {
				s.deliver(answer)
			}
		}
	})
}

// escaped stops the hub after a panic that no owner can be rebuilt from.
func (e *engine) escaped(reason any) {
	e.log.LogAttrs(context.Background(), slog.LevelError, "an actor failed for good; stopping", slog.Any("reason", reason))
	e.fail(hub.NewError(hub.CodeInternal, "an actor failed for good"))
}

// reloadOwners has the owners that keep their state in memory load it anew. The
// others do so with their next command, which is soon enough: nobody waits in them
// and no timer of theirs runs.
func (e *engine) reloadOwners(owners map[*owner]struct{}) {
	e.tasks.Go(func() { // not on the writer's goroutine, which these turns may wait for
		for o := range owners {
			if e.permanent(o.key.Kind) {
				o.tell(o.reloadTurn())
			}
		}
	})
}
