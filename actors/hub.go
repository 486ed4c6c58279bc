package actors

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/index"
	"hubcli/actors/leases"
	"hubcli/actors/lists"
	"hubcli/actors/seats"
	"hubcli/actors/spawns"
	"hubcli/actors/view"
	"hubcli/actors/watch"
	"hubcli/hub"
)

// Runner starts the processes of spawns.
type Runner = spawns.Runner

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
	Step func(engine.Step)
}

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
		o.Step = func(engine.Step) {}
	}
}

// How long seats that are due are waited for.
const (
	checkpointGrace = 5 * time.Second
	stopGrace       = time.Second
)

// Hub is the actor system with its view: everything of a running hub but the
// network and the disk. It implements hub.Service and what package httpapi asks
// for beside it.
type Hub struct {
	*leases.Leases
	*lists.Lists

	engine   *engine.Engine
	options  Options
	log      *slog.Logger
	journal  core.Journal
	rows     core.Rows
	view     *view.View
	watches  *watch.Watches
	seats    *seats.Seats
	waker    *view.Waker
	indexer  *index.Indexer // nil without an index
	spawns   *spawns.Manager
	idle     *idleAgents
	channels *knownChannels

	stopOnce sync.Once
	stopErr  error
}

var _ hub.Service = (*Hub)(nil)

// Start restores the state from the store and starts the actors. The store must
// not be used by anybody else until Stop has returned.
func Start(options Options) (*Hub, error) {
	options.ensureDefaults()
	h := &Hub{options: options, log: options.Logger, journal: options.Journal, rows: options.Rows, idle: newIdleAgents(), channels: newKnownChannels()}
	h.view = view.New(h.journal, h.rows, h.log, options.RingBytes, h.journal.Head().Message)
	h.engine = engine.New(engine.Options{
		Journal: h.journal, Rows: h.rows, Log: h.log, Views: h.view, Kinds: h.kinds(),
		CheckpointEvery: options.CheckpointEvery, ApplyHook: options.ApplyHook, Step: options.Step,
		Settle:  func(upto hub.Seq) error { return h.seats.Settle(upto, checkpointGrace) },
		Settled: func(upto hub.Seq) bool { return h.seats.Settled(upto) },
	})
	h.Leases = leases.New(h.view, h.engine, h.rows)
	h.Lists = lists.New(lists.Options{
		View: h.view, Engine: h.engine, Rows: h.rows,
		Find: func(ctx context.Context, q core.IndexQuery) ([]core.IndexHit, error) {
			hits, _, err := h.find(ctx, q)
			return hits, err
		},
		MAC: func(text string) []byte { return h.secrets().sum("cursor", text) },
	})
	h.watches = watch.New(watch.Options{
		View: h.view, Engine: h.engine, Log: h.log, Register: h.Register,
		Acted: func(room hub.RoomID, agent hub.AgentID) { h.seats.Acts(room, agent) },
	})
	h.seats = seats.New(seats.Options{
		View: h.view, Engine: h.engine, Rows: h.rows, Log: h.log, Watching: h.watches.Of, LastCall: h.idle.last,
		Spawns: func(room hub.RoomID) ([]hub.Spawn, error) { return spawns.In(h.rows, room) },
	})
	h.spawns = spawns.New(spawns.Options{
		View: h.view, Engine: h.engine, Rows: h.rows, Log: h.log, Runner: options.Runner, BaseURL: options.BaseURL,
	})
	h.view.SessionEnded = h.engine.Seq.SessionEnded
	if options.Index != nil {
		h.indexer = index.New(h.engine, h.view, h.rows, h.log, options.Index)
	}
	h.waker = view.NewWaker(h.view.Notifier, func() { options.Step(engine.StepNotified) })
	h.engine.Subscribe(h.waker, h.indexer, h.seats.Shown, h.spawns.Shown, h.indexer.Shown)
	restored, err := h.engine.Restore()
	var lost []hub.Spawn
	if err == nil {
		lost, err = spawns.Live(h.rows)
	}
	if err != nil {
		h.engine.Abandon()
		return nil, err
	}
	go h.waker.Serve(h.engine.Writer.Done)
	h.engine.Run(restored)
	background := &h.engine.Tasks
	background.Go(func() { h.watchPresence(h.engine.Quit) })
	if h.indexer != nil {
		background.Go(func() { h.indexer.Serve(h.engine.Quit) })
	}
	background.Go(func() { h.view.Seen.Serve(h.engine.Quit, h.engine.Failed) })
	background.Go(func() { h.watches.Serve(h.engine.Quit) })
	background.Go(func() { h.seats.Serve(restored.Behind, h.engine.Quit) })
	background.Go(func() { h.spawns.Lose(lost) })
	return h, nil
}

// Failed is closed when the hub cannot go on: a commit failed or an actor broke.
// Cause says why then.
func (h *Hub) Failed() <-chan struct{} { return h.engine.Failed }

// Cause returns why the hub failed, once Failed is closed.
func (h *Hub) Cause() error { return h.engine.Cause }

// EndParked refuses new work from now on and answers every parked call with what
// there is: polls nothing, who waits for a lease the holder's row. It is called
// before the server is asked to end, which waits for its calls.
func (h *Hub) EndParked() {
	h.engine.EndParked()
	h.engine.ReleaseWaiters()
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
	h.spawns.Stop(ctx)
	_ = h.seats.Settle(h.engine.Seq.Given(), stopGrace) // the next start derives the rest
	return h.engine.Stop(ctx, func() { <-h.waker.Done() })
}

// Info answers hub-info. The hub can search once the index is open.
func (h *Hub) Info(context.Context) (hub.Info, error) {
	info := h.options.Info
	if open, _ := h.indexer.State(); open {
		info.Features = append(slices.Clip(info.Features), hub.FeatureSearch)
	}
	return info, nil
}
