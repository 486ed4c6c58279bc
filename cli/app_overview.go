package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/overview"
	"hubcli/hub"
)

// pageWidth is the width of the page; terminals are seldom narrower.
const pageWidth = 80

// overviewEvery is how often a page that is watched is read anew.
const overviewEvery = 2 * time.Second

type overviewOptions struct {
	baseURL
	json  bool
	all   bool
	watch bool
}

// newAppOverview makes the command under a name: overview of app, or status, its short
// name.
func newAppOverview(env *Env, name string) *cobra.Command {
	var o overviewOptions
	cmd := &cobra.Command{
		Use:   name,
		Short: "Show the whole hub on one page",
		Long: `Show the whole hub on one page, what matters first: trouble, questions to you, which
agent waits for which, the agents by room, and the rooms. "hubcli status" is the
same.

Trouble is what seldom ends by itself: agents that wait for each other, an agent that
has been at a prompt for two minutes or sleeps over messages, a task that waits for one
that failed, a task under way whose agent is not there, a lease that ends while others
wait for it, and a hub that refuses writes.

It reads the operator token in the store of the hub. Without it, the page leaves out
tasks of direct messages. The command registers nobody.`,
		Example: `  hubcli app overview
  hubcli app overview --watch
  hubcli status --json`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runOverview(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "show all rows of each part")
	f.BoolVarP(&o.watch, "watch", "w", false, "show the page again every two seconds, until interrupted")
	f.BoolVar(&o.json, "json", false, "print everything as one JSON document; with --watch one line each time")
	o.baseURL.add(env, f)
	return cmd
}

func runOverview(ctx context.Context, env *Env, o *overviewOptions) error {
	c, err := o.baseURL.client()
	if err != nil {
		return err
	}
	defer c.Close()
	show := func(ctx context.Context) error { return printOverview(ctx, env, o, c) }
	if !o.watch {
		return show(ctx)
	}
	ticks := time.NewTicker(overviewEvery)
	defer ticks.Stop()
	return again(ctx, ticks.C, show)
}

// again shows the page now and with each tick, until ctx ends or the page cannot be
// shown.
func again(ctx context.Context, ticks <-chan time.Time, show func(context.Context) error) error {
	for {
		if err := show(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks:
		}
	}
}

func printOverview(ctx context.Context, env *Env, o *overviewOptions, c *client.Client) error {
	s, err := gather(ctx, c, env.Now())
	switch {
	case err != nil:
		return err
	case o.json && o.watch:
		return printLine(env.Stdout, s)
	case o.json:
		return printJSON(env.Stdout, s)
	}
	paint := overview.NoPaint
	if env.colors(env.StdoutTerminal) {
		paint = overview.Colors
	}
	text := strings.Join(overview.Page(s, overview.PageOptions{Width: pageWidth, All: o.all, Paint: paint}), "\n") + "\n"
	if o.watch {
		text = repainted(text, env.StdoutTerminal != nil && env.StdoutTerminal() && env.Getenv("TERM") != "dumb")
	}
	_, err = io.WriteString(env.Stdout, text)
	return err
}

// repainted is a page that takes the place of the one before on a terminal. Elsewhere an
// empty line follows it.
func repainted(text string, terminal bool) string {
	if !terminal {
		return text + "\n"
	}
	return "\x1b[H" + strings.ReplaceAll(text, "\n", "\x1b[K\n") + "\x1b[J"
}

// gather reads the hub as the operator. If the operator's secret cannot be read here, it
// reads what anybody may see.
func gather(ctx context.Context, c *client.Client, now time.Time) (*overview.Snapshot, error) {
	src := overview.Source{Hub: c.AsOperator(), BaseURL: c.BaseURL()}
	s, err := overview.Gather(ctx, src, hub.TimeOf(now))
	if needsSecret(err) {
		src.Hub, src.Limited = c, true
		return overview.Gather(ctx, src, hub.TimeOf(now))
	}
	return s, err
}

// needsSecret reports whether a call failed because the operator's secret is not here.
func needsSecret(err error) bool { return errors.Is(err, &hub.Error{Code: hub.CodeOperatorRequired}) }
