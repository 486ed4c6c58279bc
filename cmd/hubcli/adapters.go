package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/integrations/adapter"
	"hubcli/internal/hubfile"
	"hubcli/internal/program"
	"hubcli/mcp"
	"hubcli/supervisor"
)

// Of ensuring adapters while the hub starts.
const (
	ensureLimit = time.Minute     // all harnesses together
	ensureGrace = 2 * time.Second // for the change under way when the hub stops
)

// newAdapters are those of this user's harnesses. A hub that does not listen on
// loopback has none: not every program of a harness would reach it without a session.
func newAdapters(cfg *term.DaemonConfig, log *slog.Logger) supervisor.Adapters {
	base, ok := loopbackURL(cfg.Listener.Addr())
	home, err := os.UserHomeDir()
	if !ok || err != nil || cfg.DataRoot == "" {
		return nil
	}
	c := adapter.Config{
		World: adapter.World{GOOS: runtime.GOOS, Home: home, DataRoot: cfg.DataRoot, Getenv: os.Getenv},
		Self:  program.Self, LookPath: exec.LookPath,
		Hub: client.New(client.Config{BaseURL: base, DataRoot: cfg.DataRoot}), Logger: log, Tools: mcp.ToolNames(),
	}
	if base != hubfile.BaseURL(cfg.DataRoot) {
		c.BaseURL = base
	}
	if cfg.DataRootGiven {
		c.DataRoot = cfg.DataRoot
	}
	if cfg.Storage != filepath.Join(cfg.DataRoot, "app.db") {
		c.Storage = cfg.Storage
	}
	return adapter.New(c)
}

// ensureAdapters sets detected harnesses up beside the start, if that was asked
// for, until the returned function is called.
func ensureAdapters(cfg *term.DaemonConfig, a supervisor.Adapters, log *slog.Logger) (stop func()) {
	adapters, ok := a.(*adapter.Adapters)
	if !cfg.AutoEnsureAdapters || !ok {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(context.Background(), ensureLimit)
	done := make(chan struct{})
	go func() {
		defer close(done)
		adapters.Ensure(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(ensureGrace): // a file system hangs; each file is old or new whole
			log.Warn("ensuring adapters has not ended")
		}
	}
}
