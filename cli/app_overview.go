package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/overview"
	"hubcli/hub"
)

// The width of the page, and the least width that it has on a narrow terminal.
const (
	pageWidth      = 80
	leastPageWidth = 40
)

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

// newStatus is the hidden short name of app overview.
func newStatus(env *Env) *cobra.Command {
	cmd := newAppOverview(env, "status")
	cmd.Hidden = true
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
	_, err = io.WriteString(env.Stdout, pageFor(env, s, o))
	return err
}

// pageFor is the page as it is written to stdout.
func pageFor(env *Env, s *overview.Snapshot, o *overviewOptions) string {
	po := overview.PageOptions{Width: pageWidth, All: o.all, Paint: overview.NoPaint}
	if env.colors(env.StdoutTerminal) {
		po.Paint = overview.Colors
	}
	width, height := env.screen()
	if width > 0 {
		po.Width = max(leastPageWidth, min(width, pageWidth))
	}
	lines := overview.Page(s, po)
	switch {
	case !o.watch:
	case height > 0:
		return repainted(lines, height)
	default: // an empty line parts the pages
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n") + "\n"
}

// screen returns the size of the terminal that stdout is, or 0, 0 if it is none on which
// a page can take the place of another.
func (e *Env) screen() (width, height int) {
	file := fileOf(e.Stdout)
	if file == nil || !holds(e.StdoutTerminal) || e.Getenv("TERM") == "dumb" {
		return 0, 0
	}
	width, height, err := term.GetSize(file.Fd())
	if err != nil {
		return 0, 0
	}
	return width, height
}

// repainted is a page that takes the place of the one before on a terminal. What does not
// fit is counted: a longer page would scroll away its first lines, which matter most.
func repainted(lines []string, height int) string {
	if room := max(1, height-1); len(lines) > room {
		more := fmt.Sprintf("and %d more lines: hubcli status", len(lines)-room+1)
		lines = append(slices.Clone(lines[:room-1]), more)
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J"
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
