package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"hubcli/actors"
	"hubcli/cli/daemon"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/mcp"
	"hubcli/supervisor"
)

// collectorLimit is the soft limit of the heap: it keeps a burst from doubling
// what the hub holds for a moment. What is live is bounded below it; see docs/operations.md,
// "What takes memory".
const collectorLimit = 768 << 20

// blockedThreads is how many threads may run Go code beyond the processors. A
// commit blocks one or two in syncs, and Go hands their place on only after a
// while: with 64 posting agents on two processors these two give a fifth more
// posts a second.
const blockedThreads = 2

// serve is the daemon: a supervised hub on cfg.Listener until ctx ends or the
// operator asks it to stop.
func serve(ctx context.Context, cfg term.DaemonConfig) error {
	debug.SetMemoryLimit(collectorLimit)
	ctx, stop := daemon.EndWithTerminal(ctx) // a hub in the foreground ends as with Ctrl-C
	defer stop()
	returning, end := context.WithCancel(ctx)
	defer end()
	go pause.ReturnMemory(returning)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU() + blockedThreads)
	}
	level := slog.LevelInfo
	if cfg.Quiet {
		level = slog.LevelWarn
	}
	log := slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: level}))
	base, ok := loopbackURL(cfg.Listener.Addr())
	if !ok { // there a spawned agent's bridge calls from loopback; its other programs need a session
		base = "http://" + cfg.Listener.Addr().String()
	}
	made, err := storeMaker(cfg.MarkedIn)
	if err != nil {
		_ = cfg.Listener.Close()
		return err
	}
	adapters := newAdapters(&cfg, log)
	endpoint := mcp.NewEndpoint(mcp.EndpointConfig{Version: cfg.Version, BaseURL: base, DataRoot: cfg.NotedIn, Log: log})
	defer endpoint.Close()
	tree, err := supervisor.Start(supervisor.Config{
		Runner: runner(), BaseURL: base, Notifier: notifier(&cfg), Directory: directory(), Credentials: credentials(),
		Storage: cfg.Storage, DataRoot: cfg.NotedIn, Listener: cfg.Listener, AllowRemote: cfg.AllowRemote, Adapters: adapters, Browsers: newBrowsers(&cfg),
		Browser:         newBrowser(&cfg, log),
		Capsules:        newCapsules,
		Licenses:        newLicenses(cfg.DataRoot, log),
		MCP:             endpoint,
		Begun:           func(h *actors.Hub, instance hub.InstanceID) { endSessions(ctx, h, instance, cfg.NotedIn, log) },
		AcceptTruncated: cfg.AcceptTruncated, Maker: made, Adopt: cfg.Adopt, AutoRooms: cfg.AutoRooms, Limits: cfg.Limits, MaxConnections: daemon.Connections(daemon.OpenFiles()), Version: cfg.Version, Logger: log,
	})
	if err != nil {
		return storeFailure(err)
	}
	stopSpool := serveSpool(&cfg, made, tree.Store.InstanceID(), log)
	stopEnsuring := ensureAdapters(&cfg, adapters, log)
	cfg.Ready(cfg.Listener.Addr().String())
	failed := tree.Wait(ctx)
	stopEnsuring()
	stopSpool()
	if err := errors.Join(failed, tree.Stop()); err != nil {
		return storeFailure(err)
	}
	return nil
}
