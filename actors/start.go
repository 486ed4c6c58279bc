package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hubcli/actors/asks"
	"hubcli/actors/asleep"
	"hubcli/actors/capsules"
	"hubcli/actors/connections"
	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/guard"
	"hubcli/actors/index"
	"hubcli/actors/leases"
	"hubcli/actors/lists"
	"hubcli/actors/replay"
	"hubcli/actors/seats"
	"hubcli/actors/spawns"
	"hubcli/actors/view"
	"hubcli/actors/watch"
	"hubcli/hub"
)

// Start restores the state from the store and starts the actors. No other code
// may use the store until Stop has returned.
func Start(options Options) (*Hub, error) {
	options.ensureDefaults()
	h := newHub(options)
	restored, err := h.engine.Restore()
	var lost []hub.Spawn
	if err == nil {
		err = h.view.RestoreRulings()
	}
	if err == nil {
		err = errors.Join(h.view.RestoreArchived(), h.view.RestoreRetired(), h.view.RestoreImports(), h.view.RestoreTakenBack())
	}
	if err == nil {
		lost, err = spawns.Live(h.rows)
	}
	if err == nil {
		err = errors.Join(h.guard.Restore(), h.replay.Begin())
	}
	var asked []core.StoredAsk
	if err == nil {
		asked = h.asks.Left()
		if options.Begin != nil {
			err = options.Begin()
		}
	}
	if err != nil {
		h.engine.Abandon()
		return nil, err
	}
	go h.waker.Serve(h.engine.Writer.Done)
	h.engine.Run(restored)
	if options.Adopt {
		if err := h.adopt(); err != nil {
			ctx, end := context.WithTimeout(context.Background(), adoptPatience)
			defer end()
			return nil, errors.Join(err, h.engine.Stop(ctx, func() { <-h.waker.Done() }))
		}
	}
	background := &h.engine.Tasks
	background.Go(func() { h.watchPresence(h.engine.Quit) })
	if h.indexer != nil {
		background.Go(func() { h.indexer.Serve(h.engine.Quit) })
	}
	background.Go(func() { h.view.Seen.Serve(h.engine.Quit, h.engine.Failed) })
	background.Go(func() { h.watches.Serve(h.engine.Quit) })
	background.Go(func() { h.seats.Serve(restored.Behind, h.engine.Quit) })
	background.Go(func() { h.asleep.Serve(h.engine.Quit) })
	background.Go(func() { h.handover.Serve(h.engine.Quit) })
	background.Go(func() { h.spawns.Lose(lost) })
	background.Go(func() { h.asks.Serve(asked, h.engine.Quit) })
	background.Go(func() { h.asks.Tell(h.engine.Quit) })
	background.Go(func() { h.guard.Serve(h.engine.Quit) })
	background.Go(h.finishRetirements)
	if h.importer != nil {
		background.Go(h.sweepImports)
	}
	return h, nil
}

// watching returns what an agent waits for: the conditions of its watches, and the answers that its
// calls wait for, in the form of a condition.
func (h *Hub) watching(agent hub.AgentID) (label string, conditions []string, waits bool) {
	label, conditions, waits = h.watches.Of(agent)
	for _, id := range h.view.Waiters.Awaits(agent) {
		if c := fmt.Sprintf("%s:%d", hub.UntilAnswered, id); !slices.Contains(conditions, c) {
			conditions, waits = append(conditions, c), true
		}
	}
	return label, conditions, waits
}

// newHub makes the parts of a hub and hands each the parts below it. Nothing runs yet.
func newHub(options Options) *Hub {
	h := &Hub{swept: make(chan struct{}), options: options, log: options.Logger, journal: options.Journal, rows: options.Rows, idle: newIdleAgents(), channels: newKnownChannels(), codes: &passCodes{}}
	h.view = view.New(h.journal, h.rows, h.log, options.RingBytes, h.journal.Head().Message)
	h.rows = h.view.Rows()
	h.view.Directory.MostParked = cmp.Or(options.MaxParked, hub.MaxConnections)
	h.engine = engine.New(engine.Options{
		Journal: h.journal, Rows: h.rows, Log: h.log, Views: h.view, Kinds: h.kinds(),
		CheckpointEvery: options.CheckpointEvery, ApplyHook: options.ApplyHook, Step: options.Step,
		Settle:  func(upto hub.Seq) error { return h.seats.Settle(upto, checkpointGrace) },
		Settled: func(upto hub.Seq) bool { return h.seats.Settled(upto) },
		Saving:  func(c *core.Checkpoint) error { return h.replay.Saving(c) },
	})
	h.replay = replay.New(replay.Options{View: h.view, Journal: h.journal, Rows: h.rows, Log: h.log, Every: options.CheckpointEvery})
	h.gate = gate.New(h.view, h.engine, h.log)
	h.Leases = leases.New(h.view, h.engine, h.gate, h.rows)
	h.handover = leases.NewHandover(h.view, h.engine, h.log)
	h.Lists = lists.New(lists.Options{
		View: h.view, Engine: h.engine, Rows: h.rows,
		Watching: h.watching,
		Find: func(ctx context.Context, q core.IndexQuery) ([]core.IndexHit, error) {
			hits, _, err := h.find(ctx, q)
			return hits, err
		},
		Undelivered: func(agent hub.AgentID) (*hub.Undelivered, error) { return h.asleep.Undelivered(agent) },
		MAC:         func(text string) []byte { return h.secrets().sum("cursor", text) },
	})
	h.watches = watch.New(watch.Options{
		View: h.view, Engine: h.engine, Log: h.log, Register: h.Register,
		Acted: func(room hub.RoomID, agent hub.AgentID) { h.seats.Acts(room, agent) },
	})
	h.seats = seats.New(seats.Options{
		View: h.view, Engine: h.engine, Gate: h.gate, Rows: h.rows, Log: h.log, Watching: h.watching, LastCall: h.idle.last,
		Spawns: func(room hub.RoomID) ([]hub.Spawn, error) { return spawns.In(h.rows, room) },
	})
	h.asleep = asleep.New(asleep.Options{
		View: h.view, Engine: h.engine, Rows: h.rows, Log: h.log, LastCall: h.idle.last, Recipient: h.recipient, Nobody: h.nobody,
	})
	h.Manager = connections.New(connections.Options{
		Engine: h.engine, Gate: h.gate, Rows: h.rows, Log: h.log, Secret: options.Secret, Directory: options.Directory, Credentials: options.Credentials,
	})
	h.spawns = spawns.New(spawns.Options{
		View: h.view, Engine: h.engine, Gate: h.gate, Rows: h.rows, Log: h.log, Runner: options.Runner, BaseURL: options.BaseURL, Key: h.ConnectionVariable,
	})
	h.asks = asks.New(asks.Options{View: h.view, Engine: h.engine, Gate: h.gate, Rows: h.rows, Log: h.log, Notifier: options.Notifier})
	h.guard = guard.New(guard.Options{
		View: h.view, Engine: h.engine, Log: h.log, Ask: h.asks.AboutLoop,
		Stopped: func() ([]core.StoredAsk, error) { return asks.Stopped(h.rows) },
	})
	if options.Stager != nil {
		h.importer = capsules.NewImporter(capsules.ImportOptions{View: h.view, Engine: h.engine, Gate: h.gate, Stager: options.Stager, Log: h.log})
	}
	h.started = h.engine.Clock.Now().Wall
	h.view.SessionEnded = h.engine.Seq.SessionEnded
	if options.Index != nil {
		h.indexer = index.New(h.engine, h.view, h.rows, h.log, options.Index)
	}
	h.waker = view.NewWaker(h.view.Notifier, func() { options.Step(engine.StepNotified) })
	h.engine.Subscribe(h.waker, h.indexer, h.seats.Shown, h.asleep.Shown, h.handover.Shown, h.spawns.Shown, h.asks.Shown, h.guard.Shown, h.indexer.Shown)
	return h
}

// EndParked refuses new work from now on and answers every parked call: a poll without
// rows, a call that waits for a lease with the holder's row. It is called before the
// server is asked to end, because the server waits for its calls.
func (h *Hub) EndParked() {
	h.engine.EndParked()
	h.engine.ReleaseWaiters()
}

// Stop ends the hub: it refuses new work, answers parked calls, makes the work
// under way durable and takes a last checkpoint. It waits for work until ctx is
// done. Afterwards no goroutine of the hub is left, and the store may be
// closed.
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
