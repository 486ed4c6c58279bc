package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

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
	// Saving is told of each checkpoint before it is saved. All that is in the checkpoint is
	// durable. After an error the checkpoint is not saved.
	Saving func(*core.Checkpoint) error
	// ApplyHook, for tests, is called before an owner applies a fact.
	ApplyHook func(core.Owner, core.Fact)
	// Step is called at each step of a write, on the goroutine that takes it.
	Step func(Step)
}

// DirtyRows learns which owners lack stored rows after a panic in Apply. Hold is
// called before the record with the missing rows is shown. Release is called when the
// rows are stored, or when it is known that they never will be.
type DirtyRows interface {
	Hold(k core.Owner, seq hub.Seq)
	Release(k core.Owner, rows []core.Row)
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
	registry *registry
	Writer   *writer
	keys     sync.Map // idempotency scopes of calls under way, [32]byte → struct{}

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

// permanentOwners lists the owners whose state stands in checkpoints.
func (e *Engine) permanentOwners() (owners []core.Owner) {
	for i := range e.options.Kinds {
		owners = append(owners, e.options.Kinds[i].Owners...)
	}
	return owners
}

// permanent reports whether owners of this kind hold live state and are never
// retired.
func (e *Engine) permanent(k core.OwnerKind) bool { return e.kinds[k] != nil && e.kinds[k].Load == nil }

// EndParked answers every parked call and refuses new work from now on.
func (e *Engine) EndParked() {
	if e.Stopping.CompareAndSwap(false, true) {
		close(e.Ending)
	}
}

// admissible refuses a write while the hub stops or its disk is full.
func (e *Engine) admissible() error {
	select {
	case <-e.Failed:
		return errStoreFailed(e.Cause)
	default:
	}
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
		With("free_bytes", free).WithFix("free space on the disk, or delete files if it holds too many (see: df -i); the hub goes on by itself")
}

// fail stops the hub after an error of unknown outcome: nothing is numbered any more,
// and every command under way is answered with store_failed. Only the first call has
// an effect.
func (e *Engine) fail(cause error) {
	e.failOnce.Do(func() {
		e.Cause = cause
		close(e.Failed)
		e.EndParked()
		answer := errStoreFailed(cause)
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

// kindOf returns the row of an owner's kind.
func (e *Engine) kindOf(k core.Owner) (*Kind, error) {
	if kind := e.kinds[k.Kind]; kind != nil {
		return kind, nil
	}
	return nil, core.ErrUnknownOwner(k)
}
