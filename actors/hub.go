package actors

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

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

// Runner starts the processes of spawns.
type Runner = spawns.Runner

// Notifier tells the operator of questions.
type Notifier = asks.Notifier

// Directory knows hosted providers.
type Directory = connections.Directory

// Credentials keeps secrets outside of the store.
type Credentials = connections.Credentials

// Options is what a Hub is made of. Journal, Rows and Secret are required.
type Options struct {
	Journal core.Journal
	Rows    core.Rows
	// Stager keeps what imports write out of sight until they are done. nil: the hub
	// imports nothing.
	Stager core.Stager
	// Index finds rows by their words; nil: the hub does not search.
	Index core.Index
	// Secret keys the HMACs that session ids and resume keys are made of, 32
	// bytes; it is the store's and never leaves the process.
	Secret []byte
	// Folders looks at the folders that bindings name. nil: no folder can be
	// bound.
	Folders Folders
	// AutoRooms lets programs bind folders by themselves for an agent that needs a room.
	AutoRooms bool
	// Runner starts processes for spawns. nil: the hub starts none.
	Runner Runner
	// Browser shows web pages to rooms. nil: the hub has no browser.
	Browser hub.BrowserDriver
	// Notifier tells the operator of questions outside of the hub. nil: nothing does.
	Notifier Notifier
	// Directory knows hosted providers, and Credentials keeps their keys. nil: the hub
	// has no connections.
	Directory   Directory
	Credentials Credentials
	// BaseURL is the address by which processes that the hub starts reach it.
	BaseURL string
	// Adopt makes the start drop whatever the maker of the store had a hub run, call or
	// allow, before anything else acts.
	Adopt bool
	// Info is answered to hub-info as it is, but for the format of the store, which
	// StoreFormat tells if it is set.
	Info        hub.Info
	StoreFormat func() int
	// Begin is called when all of the state has been read and before anything is written. Until
	// then a start may be refused, and the store is as it was. After an error of Begin there is no
	// hub. nil: nothing is called.
	Begin func() error
	// Logger takes what the operator should know. nil discards.
	Logger *slog.Logger
	// RingBytes is the budget of messages kept in memory. 0 means 16 MiB.
	RingBytes int
	// MaxParked is how many calls may wait at a time. 0 means hub.MaxConnections.
	MaxParked int
	// CheckpointEvery is how many records may pass between two checkpoints. 0
	// means engine.CheckpointEvery.
	CheckpointEvery int
	// ApplyHook, for tests, is called before an owner applies a fact; it may
	// panic as a faulty Apply would.
	ApplyHook func(core.Owner, core.Fact)
	// Step, for tests, is called at each step of a write, on the goroutine that
	// takes the step. It may block.
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
		o.CheckpointEvery = engine.CheckpointEvery
	}
	if o.Folders == nil {
		o.Folders = noFolders{}
	}
	if o.Step == nil {
		o.Step = func(engine.Step) {}
	}
}

// Limits of the wait for seats that are due.
const (
	checkpointGrace = 5 * time.Second
	stopGrace       = time.Second
)

// Hub is the actor system with its view: everything of a running hub except the
// network and the disk. It implements hub.Service and the interfaces of package
// httpapi.
type Hub struct {
	*leases.Leases
	*lists.Lists
	*connections.Manager

	engine   *engine.Engine
	gate     *gate.Gate
	options  Options
	log      *slog.Logger
	journal  core.Journal
	rows     core.Rows
	view     *view.View
	watches  *watch.Watches
	seats    *seats.Seats
	asleep   *asleep.Asleep
	handover *leases.Handover
	waker    *view.Waker
	indexer  *index.Indexer // nil without an index
	spawns   *spawns.Manager
	asks     *asks.Asks
	guard    *guard.Guard
	importer *capsules.Importer // nil: the hub imports nothing
	swept    chan struct{}      // closed when what earlier imports left is deleted
	replay   *replay.Replay
	idle     *idleAgents
	channels *knownChannels
	codes    *passCodes
	started  hub.Time // by the wall clock

	stopOnce sync.Once
	stopErr  error
}

var _ hub.Service = (*Hub)(nil)

// Failed is closed when the hub cannot go on: a commit failed or an actor broke.
// Cause says why then.
func (h *Hub) Failed() <-chan struct{} { return h.engine.Failed }

// Cause returns why the hub failed, once Failed is closed.
func (h *Hub) Cause() error { return h.engine.Cause }

// Info answers hub-info. The hub can search once the index is open.
func (h *Hub) Info(context.Context) (hub.Info, error) {
	info := h.options.Info
	if h.options.StoreFormat != nil {
		info.StoreFormat = h.options.StoreFormat()
	}
	if open, _, _ := h.indexer.State(); open {
		info.Features = append(slices.Clip(info.Features), hub.FeatureSearch)
	}
	if h.options.AutoRooms {
		info.Features = append(slices.Clip(info.Features), hub.FeatureAutoRooms)
	}
	return info, nil
}

// Folders looks at the folders of this machine. Its answers are kept in facts,
// so a replay does not call it. Refusals are *hub.Error.
type Folders interface {
	// Chain returns the folder at an absolute path and all above it, the
	// nearest first. With exact the path must name a folder that exists
	// (path_not_found); otherwise the chain begins at the nearest existing one.
	// Errors: invalid, path_not_found, timed_out.
	Chain(ctx context.Context, path string, exact bool) ([]core.Level, error)
	// Same reports whether two paths name one folder. Error: timed_out.
	Same(ctx context.Context, a, b string) (bool, error)
}

// noFolders is used if the options have no Folders.
type noFolders struct{}

func (noFolders) Chain(context.Context, string, bool) ([]core.Level, error) {
	return nil, hub.NewError(hub.CodePathNotFound, "this hub sees no folders").WithFix("name rooms by their ids")
}

func (noFolders) Same(context.Context, string, string) (bool, error) { return false, nil }
