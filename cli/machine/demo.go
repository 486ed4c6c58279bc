//go:build !carries

package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/demo"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// The pace of a demo.
const (
	minBeat     = 50 * time.Millisecond
	defaultBeat = 3 * time.Second
	maxBeat     = time.Hour
)

type demoOptions struct {
	port  int
	beat  time.Duration
	print bool
}

// NewDemo makes the command demo.
func NewDemo(env *term.Env) *cobra.Command {
	o := demoOptions{beat: defaultBeat}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a team at work in a hub that is thrown away",
		Long: `Start a hub of its own with a team of six agents that build a shop, and open the
console on it. The team plans, takes tasks, claims and locks, decides, hands over and
asks you; it answers what you say. No model runs and nothing is paid for.

The hub listens on a free port of this machine, and its store is a temporary folder.
Ctrl-C ends the hub and deletes the store. The hub that you use is not touched. Every
other command works on the demo, too, with the --base-url that is printed.`,
		Example: `  hubcli app demo
  hubcli app demo --every 500ms --print`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return runDemo(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.Var(term.IntValue{To: &o.port, Min: 0, Max: 65535}, "port", "`port` of the demo hub (default: any that is free)")
	f.Var(term.DurationValue{To: &o.beat, Min: minBeat, Max: maxBeat, Style: term.InUnits}, "every", "`time` between two acts of the team, such as 500ms")
	f.BoolVar(&o.print, "print", false, "print the address of the console and open no browser")
	return cmd
}

// runDemo serves and plays in this process until ctx ends.
func runDemo(ctx context.Context, env *term.Env, o *demoOptions) error {
	dir, err := os.MkdirTemp("", "hubcli-demo-")
	if err != nil {
		return term.Fail(term.ExitRefused, "set TMPDIR to a folder that can be written", "no folder for the store can be made: %v", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	storage := filepath.Join(dir, "app.db")
	l, err := listen(ctx, env, opt.Address{Host: opt.DefaultHost, Port: o.port}, storage, false)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ready, done := make(chan string, 1), make(chan error, 1)
	root, _ := env.DataRoot() // without one the commands of the operator do not find the demo
	defer func() { _ = hubfile.Forget(root, storage) }()
	go func() {
		// It has no data root: nothing of the user's is found or changed, but for the note
		// by which the user's other commands know the demo.
		done <- env.Daemon(serving, term.DaemonConfig{
			NotedIn: root, MarkedIn: dir, Listener: l, Host: opt.DefaultHost, Port: o.port, Storage: storage, Quiet: true, SpoolDir: filepath.Join(dir, "spool"),
			Limits: hub.DefaultLimits(), Version: env.Version, Log: env.Stderr, Ready: func(addr string) { ready <- addr },
		})
	}()
	select {
	case err := <-done:
		return err
	case addr := <-ready:
		err = play(ctx, env, o, "http://"+addr)
	}
	stop()
	return errors.Join(err, <-done)
}

func play(ctx context.Context, env *term.Env, o *demoOptions, url string) error {
	c := client.New(client.Config{BaseURL: url})
	defer c.Close()
	team, err := demo.Open(ctx, c)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "hubcli: six agents work at %s until Ctrl-C; then the hub and its store are deleted\n", url)
	fmt.Fprintf(env.Stderr, "hubcli: to open the console again: hubcli app open --base-url %s\n", url)
	if err := openConsole(ctx, env, &appOpenOptions{BaseURL: opt.BaseURL{URL: url}, print: o.print}, c); err != nil {
		return err
	}
	return team.Work(ctx, o.beat)
}
