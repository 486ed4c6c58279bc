//go:build !hub_omit_browser

package main

import (
	"context"
	"log/slog"
	"net"
	"os"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/browser/engine"
	"hubcli/integrations/browser/gate"
	"hubcli/integrations/browser/room"
	"hubcli/integrations/spawn"
	"hubcli/supervisor"
)

// newBrowser makes the browser of the hub's rooms. Nothing runs before a room wants a page.
func newBrowser(cfg *term.DaemonConfig, log *slog.Logger) supervisor.Browser {
	keeper := keeperRunner()
	if keeper == nil {
		return nil
	}
	var port uint16
	if at, ok := cfg.Listener.Addr().(*net.TCPAddr); ok {
		port = uint16(at.Port)
	}
	return room.New(room.Options{
		Find: func(ctx context.Context) (hub.BrowserEngine, error) {
			return engine.Choose(engine.Discover(ctx, newBrowsers(cfg).options))
		},
		Launch: launchEngine(keeper), Store: cfg.Storage, NoSandbox: os.Getenv(room.EnvNoSandbox) == "1",
		Gate: gate.Options{HubPort: port}, Logger: log,
	})
}

// launchEngine starts engines under a keeper, which ends them with the hub.
func launchEngine(keeper *spawn.Runner) room.Launch {
	return func(c *room.Command, ended func([]byte)) (room.Process, error) {
		control, pipes, err := keeper.StartPiped(&spawn.Piped{Args: c.Args, Env: c.Env, Dir: c.Dir, User: c.User, Remove: c.Remove},
			func(e hub.SpawnEnd) { ended(e.Output) })
		if err != nil {
			return room.Process{}, err
		}
		return room.Process{PID: control.PID, In: pipes.In, Out: pipes.Out, Stop: control.Stop}, nil
	}
}
