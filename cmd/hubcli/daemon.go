package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"hubcli/cli"
	"hubcli/supervisor"
)

// The collector's aim: a hub is small beside what it holds for a moment, so a
// lower percentage than Go's default keeps it small, and the soft limit keeps a
// burst from doubling the heap.
const (
	collectorPercent = 50
	collectorLimit   = 512 << 20
)

// serve is the daemon: a supervised hub on cfg.Listener until ctx ends or the
// operator asks it to stop.
func serve(ctx context.Context, cfg cli.DaemonConfig) error {
	debug.SetGCPercent(collectorPercent)
	debug.SetMemoryLimit(collectorLimit)
	level := slog.LevelInfo
	if cfg.Quiet {
		level = slog.LevelWarn
	}
	log := slog.New(slog.NewTextHandler(cfg.Log, &slog.HandlerOptions{Level: level}))
	tree, err := supervisor.Start(supervisor.Config{
		Storage: cfg.Storage, Listener: cfg.Listener, AllowRemote: cfg.AllowRemote,
		AcceptTruncated: cfg.AcceptTruncated, Limits: cfg.Limits, Version: cfg.Version, Logger: log,
	})
	if err != nil {
		return storeFailure(err)
	}
	cfg.Ready(cfg.Listener.Addr().String())
	failed := tree.Wait(ctx)
	if err := errors.Join(failed, tree.Stop()); err != nil {
		return storeFailure(err)
	}
	return nil
}
