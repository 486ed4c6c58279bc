package main

import (
	"context"

	"hubcli/cli"
	"hubcli/persistence"
)

// serve is the daemon: it opens the store, serves on cfg.Listener until ctx ends
// and then stops cleanly.
func serve(ctx context.Context, cfg cli.DaemonConfig) error {
	defer cfg.Listener.Close()
	store, err := persistence.Open(cfg.Storage, persistence.Options{AcceptTruncated: cfg.AcceptTruncated})
	if err != nil {
		return storeFailure(err)
	}
	cfg.Ready(cfg.Listener.Addr().String())
	<-ctx.Done()
	return store.Close()
}
