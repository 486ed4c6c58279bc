// Package testhub runs a whole hub for tests: a real store in a temporary folder,
// the actors and the HTTP server, on a free port of loopback. It is for tests
// only; each hub ends with its test.
package testhub

import (
	"context"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/adapter"
	"hubcli/internal/pause"
	"hubcli/supervisor"
	"hubcli/supervisor/capsules"
)

// Hub is a running hub.
type Hub struct {
	*supervisor.Tree
	Dir      string // the store folder
	DataRoot string // the folder in which clients find that the hub is this user's
	URL      string // base address, without a slash at the end

	stop sync.Once
	err  error
}

// Option changes how a hub is started.
type Option func(*supervisor.Config)

// Dir starts the hub on this store folder, which may have been used before.
func Dir(dir string) Option { return func(c *supervisor.Config) { c.Storage = dir } }

// Log sends the hub's log to a logger.
func Log(l *slog.Logger) Option { return func(c *supervisor.Config) { c.Logger = l } }

// Adapters lets the hub set itself up in the harnesses of a home folder, with the
// file self in the place of its executable.
func Adapters(home, self string) Option {
	return func(c *supervisor.Config) {
		c.Adapters = adapter.New(adapter.Config{
			World:    adapter.World{GOOS: "linux", Home: home, DataRoot: filepath.Join(home, "data"), Getenv: func(string) string { return "" }},
			Self:     func() (string, error) { return self, nil },
			LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
			Tools:    []string{"hub_dm", "hub_start"},
			Hub:      client.New(client.Config{BaseURL: "http://" + c.Listener.Addr().String()}),
		})
	}
}

// With changes any part of the configuration.
func With(change func(*supervisor.Config)) Option { return change }

// Start runs a hub until the test ends.
func Start(tb testing.TB, options ...Option) *Hub {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen: %v", err)
	}
	dir := tb.TempDir()
	c := supervisor.Config{Storage: filepath.Join(dir, "store"), DataRoot: filepath.Join(dir, "data"), Listener: l, Version: "test", Capsules: capsules.New}
	for _, o := range options {
		o(&c)
	}
	t, err := supervisor.Start(c)
	if err != nil {
		tb.Fatalf("start the hub: %v", err)
	}
	h := &Hub{Tree: t, Dir: c.Storage, DataRoot: c.DataRoot, URL: "http://" + c.Listener.Addr().String()}
	tb.Cleanup(func() {
		if err := h.Stop(); err != nil {
			tb.Errorf("stop the hub: %v", err)
		}
	})
	return h
}

// Stop ends the hub; a second call does nothing.
func (h *Hub) Stop() error {
	h.stop.Do(func() { h.err = h.Tree.Stop() })
	return h.err
}

// Wait returns when the hub is to stop by itself.
func (h *Hub) Wait(ctx context.Context) error { return h.Tree.Wait(ctx) }

// patience is how long AwaitSearch waits on a machine that has much else to do.
const patience = 45 * time.Second

// AwaitSearch waits until the hub at url says that it can search. A hub answers calls
// before its index is open, so what two fresh hubs say of themselves may differ.
func AwaitSearch(tb testing.TB, url string) {
	tb.Helper()
	c := client.New(client.Config{BaseURL: url})
	defer c.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for {
		info, err := c.Info(ctx)
		if err != nil {
			tb.Fatalf("wait for the index of %s: %v", url, err)
		}
		if slices.Contains(info.Features, hub.FeatureSearch) {
			return
		}
		if !pause.For(ctx, 5*time.Millisecond) {
			tb.Fatalf("the index of %s is not open after %s", url, patience)
		}
	}
}
