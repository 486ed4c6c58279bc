package person

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/overview"
)

// The width of the page: that of the terminal within these bounds.
const (
	leastPageWidth = 40
	pageWidth      = 80
)

// NewOverview makes the command under a name: overview of app, or status, its short
// name.
func NewOverview(env *term.Env, name string) *cobra.Command {
	var o struct {
		list.Listing
		all bool
	}
	noted := false
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

It reads the operator token in the store of the hub. Without it, and where HUB_AGENT is
set, the page leaves out questions, the tasks of direct messages between others, and the
agents that post to each other without progress. The command registers nobody.`,
		Example: `  hubcli app overview
  hubcli app overview --watch
  hubcli status --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (list.Found, error) {
				snap, err := gatherFor(ctx, env, s.Client)
				if err == nil && snap.Limited && !noted {
					noted = true
					opt.NoteUnproved(env, s.Client)
				}
				return list.Found{Rows: snap, Text: &wholePage{snap, o.all}}, err
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "show all rows of each part")
	o.Listing.Add(env, f)
	f.Lookup("json").Usage = "print everything as one JSON document"
	return cmd
}

// wholePage is the page of a hub.
type wholePage struct {
	snap *overview.Snapshot
	all  bool
}

func (p *wholePage) Empty() string { return "" }

func (p *wholePage) Lines(s term.Screen) []string {
	o := overview.PageOptions{Width: pageWidth, All: p.all, Paint: overview.NoPaint}
	if s.Width > 0 {
		o.Width = max(leastPageWidth, min(s.Width, pageWidth))
	}
	if s.Color {
		o.Paint = overview.Colors
	}
	return overview.Page(p.snap, o)
}

// gatherFor reads the hub for a person, or for the agent that the environment names: what
// concerns others is not shown to it.
func gatherFor(ctx context.Context, env *term.Env, c *client.Client) (*overview.Snapshot, error) {
	if env.Getenv(hook.EnvAgent) == "" {
		return gather(ctx, c, env.Now())
	}
	return overview.Gather(ctx, overview.Source{Hub: c, BaseURL: c.BaseURL(), Limited: true}, hub.TimeOf(env.Now()))
}

// gather reads the hub as the operator. If the operator's secret cannot be read here, it
// reads what anybody may see.
func gather(ctx context.Context, c *client.Client, now time.Time) (*overview.Snapshot, error) {
	src := overview.Source{Hub: c.AsOperator(), BaseURL: c.BaseURL()}
	s, err := overview.Gather(ctx, src, hub.TimeOf(now))
	if opt.NeedsSecret(err) {
		src.Hub, src.Limited = c, true
		return overview.Gather(ctx, src, hub.TimeOf(now))
	}
	return s, err
}
