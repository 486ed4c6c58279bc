package actors

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Options is what a Hub is made of. Journal, Rows and Secret are required.
type Options struct {
	Journal core.Journal
	Rows    core.Rows
	// Index finds rows by their words; nil: the hub does not search.
	Index core.Index
	// Secret keys the HMACs that session ids and resume keys are made of, 32
	// bytes; it is the store's and never leaves the process.
	Secret []byte
	// Folders looks at what bindings name. nil: no folder can be bound.
	Folders Folders
	// Runner starts processes for spawns. nil: the hub starts none.
	Runner Runner
	// BaseURL is the address by which processes that the hub starts reach it.
	BaseURL string
	// Info is answered to hub-info as it is.
	Info hub.Info
	// Logger takes what the operator should know. nil discards.
	Logger *slog.Logger
	// RingBytes is the budget of messages kept in memory. 0 means 16 MiB.
	RingBytes int
	// CheckpointEvery is how many records may pass between two checkpoints. 0
	// means 20,000.
	CheckpointEvery int
	// ApplyHook, for tests, is called before an owner applies a fact; it may
	// panic as a faulty Apply would.
	ApplyHook func(core.Owner, core.Fact)
	// Step, for tests, is called at each arrow of the way of a write, on the
	// goroutine that goes it. It may block.
	Step func(Step)
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

func (o *Options) ensureDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.RingBytes == 0 {
		o.RingBytes = 16 << 20
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = 20_000
	}
	if o.Folders == nil {
		o.Folders = noFolders{}
	}
	if o.Step == nil {
		o.Step = func(Step) {}
	}
}

// Hub is the actor system with its view: everything of a running hub but the
// network and the disk. It implements hub.Service and what package httpapi asks
// for beside it.
type Hub struct {
	options  Options
	log      *slog.Logger
	journal  core.Journal
	rows     core.Rows
	clock    *clock
	stage    *stage
	seq      *sequencer
	registry *registry
	view     *view.View
	watches  *watches
	seating  *seating
	started  hub.Time // by the wall clock
	writer   *writer
	waker    *view.Waker
	indexer  *indexer // nil without an index
	spawner  *spawner
	keys     sync.Map // idempotency scopes of calls under way, [32]byte → struct{}
	idle     *idleAgents
	channels knownChannels

	quarantineMu sync.Mutex
	quarantine   map[core.Owner]hub.QuarantinedActor

	stopping atomic.Bool
	ending   chan struct{} // closed when parked calls are to be answered
	quit     chan struct{} // closed when the background goroutines are to end
	failed   chan struct{} // closed when the hub cannot go on (fail-stop)
	failOnce sync.Once
	cause    error // why; set before failed is closed
	tasks    sync.WaitGroup
	released sync.Once // the waiters for leases
	stopOnce sync.Once
	stopErr  error
}

var _ hub.Service = (*Hub)(nil)

// Start restores the state from the store and starts the actors. The store must
// not be used by anybody else until Stop has returned.
func Start(options Options) (*Hub, error) {
	options.ensureDefaults()
	head := options.Journal.Head()
	h := &Hub{
		options: options, log: options.Logger, journal: options.Journal, rows: options.Rows,
		clock: newClock(head.HubMS), seq: newSequencer(head),
		quarantine: map[core.Owner]hub.QuarantinedActor{}, idle: newIdleAgents(),
		ending: make(chan struct{}), quit: make(chan struct{}), failed: make(chan struct{}),
	}
	h.stage = newStage(func(reason any) { h.escaped(reason) })
	h.registry = newRegistry(h)
	h.view = view.New(h.journal, h.rows, h.log, options.RingBytes, head.Message)
	h.view.SessionEnded = h.seq.sessionEnded
	h.watches, h.spawner, h.seating = newWatches(), newSpawner(h.tend), newSeating(h.view)
	h.started = h.clock.now().Wall
	if options.Index != nil {
		h.indexer = newIndexer(h, options.Index)
	}
	h.waker = view.NewWaker(h.view.Notifier, func() { options.Step(StepRung) })
	h.writer = &writer{
		seq: h.seq, journal: h.journal, view: h.view, notifier: h.waker,
		subscribers: []subscriber{h.seating.shown, h.spawner.shown, h.indexer.shown},
		log:         h.log, clock: h.clock, failed: h.fail, withdrawn: h.reloadOwners, step: options.Step, done: make(chan struct{}),
	}
	restored, err := h.restore()
	if err != nil {
		h.stage.stop(h.registry.close())
		return nil, err
	}
	lost, err := h.liveSpawns()
	if err != nil {
		h.stage.stop(h.registry.close())
		return nil, err
	}
	go h.writer.serve(h.quit)
	go h.waker.Serve(h.writer.done)
	h.begin(restored)
	h.tasks.Go(func() { h.watchPresence(h.quit) })
	h.tasks.Go(func() { h.keepCheckpoints(restored.asOf, h.quit) })
	if h.indexer != nil {
		h.tasks.Go(func() { h.indexer.serve(h.quit) })
	}
	h.tasks.Go(func() { h.view.Seen.Serve(h.quit, h.failed) })
	h.tasks.Go(func() { h.keepWatchers(h.quit) })
	h.tasks.Go(func() { h.keepSeating(restored.behind, h.quit) })
	h.tasks.Go(func() { h.loseSpawns(lost) })
	return h, nil
}

// admissible refuses a write that cannot be taken now.
func (h *Hub) admissible() error {
	if h.stopping.Load() {
		return errStopping()
	}
	if ok, free := h.journal.Room(); !ok {
		return errStorageFull(free)
	}
	return nil
}

func errStorageFull(free int64) error {
	return hub.NewError(hub.CodeStorageFull, "the disk of the store is full; reading goes on, writing does not").
		With("free_bytes", free).WithFix("free space on the disk; the hub goes on by itself")
}

// Failed is closed when the hub cannot go on: a commit failed or an actor broke.
// Cause says why then.
func (h *Hub) Failed() <-chan struct{} { return h.failed }

// Cause returns why the hub failed, once Failed is closed.
func (h *Hub) Cause() error { return h.cause }

func (h *Hub) fail(cause error) {
	h.failOnce.Do(func() {
		h.cause = cause
		close(h.failed)
		h.endParked()
		answer := errStoreFailed()
		for _, s := range h.seq.fail(answer) {
			if s.deliver != nil {
				s.deliver(answer)
			}
		}
	})
}

// escaped stops the hub after a panic that no owner can be rebuilt from.
func (h *Hub) escaped(reason any) {
	h.log.LogAttrs(context.Background(), slog.LevelError, "an actor failed for good; stopping", slog.Any("reason", reason))
	h.fail(hub.NewError(hub.CodeInternal, "an actor failed for good"))
}

// reloadOwners has the owners that keep their state in memory load it anew. The
// others do so with their next command, which is soon enough: nobody waits in them
// and no timer of theirs runs.
func (h *Hub) reloadOwners(owners map[*owner]struct{}) {
	h.tasks.Go(func() { // not on the writer's goroutine, which these turns may wait for
		for o := range owners {
			if permanent(o.key.Kind) {
				h.stage.tell(o.pid, reloadTurn{h, o.pid})
			}
		}
	})
}

func (h *Hub) endParked() {
	if h.stopping.CompareAndSwap(false, true) {
		close(h.ending)
	}
}

// EndParked refuses new work from now on and answers every parked call with what
// there is: polls nothing, who waits for a lease the holder's row. It is called
// before the server is asked to end, which waits for its calls.
func (h *Hub) EndParked() {
	h.endParked()
	h.released.Do(h.releaseWaiters)
}

// Stop ends the hub: no new work, parked calls answered, what is under way made
// durable, a last checkpoint. It waits for work until ctx is done. Afterwards no
// goroutine of it is left and the store may be closed.
func (h *Hub) Stop(ctx context.Context) error {
	h.stopOnce.Do(func() { h.stopErr = h.stop(ctx) })
	return h.stopErr
}

func (h *Hub) stop(ctx context.Context) error {
	h.EndParked()
	h.endSpawns(ctx)
	_ = h.settleSeating(h.seq.given(), seatingEnds) // what is left then, the next start derives
	pids := h.registry.close()                      // first: what drain counts must not grow again
	err := h.drain(ctx)
	h.stage.stop(pids)
	close(h.quit)
	<-h.writer.done
	<-h.waker.Done()
	h.tasks.Wait()
	select {
	case <-h.failed: // its state is ahead of the disk
		return h.cause
	default:
	}
	if err != nil {
		return err
	}
	return h.checkpointStopped()
}

// drain waits until no command is under way.
func (h *Hub) drain(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for h.registry.underway() > 0 {
		select {
		case <-tick.C:
		case <-h.failed:
			return h.cause
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Info answers hub-info. The hub can search once the index is open.
func (h *Hub) Info(context.Context) (hub.Info, error) {
	info := h.options.Info
	if open, _ := h.indexer.state(); open {
		info.Features = append(slices.Clip(info.Features), hub.FeatureSearch)
	}
	return info, nil
}
