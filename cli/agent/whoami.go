package agent

import (
	"context"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewWhoami makes the command whoami.
func NewWhoami(env *term.Env) *cobra.Command {
	var o struct {
		opt.Agent
		opt.BaseURL
	}
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Print the result of GET /v1/bootstrap for this agent",
		Long: `Register the agent and print as JSON what it needs to begin: its session, the
latest visible message id, the live agents and the hub's limits and features.

The command registers --agent anew, which displaces a live session of that id:
use an id of your own, not that of a running agent. An id from HUB_AGENT displaces
nobody: a live session of that id stays, and the command acts without a session.`,
		Example: `  hubcli whoami --agent dev-a`,
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := o.Agent.Check()
			if err != nil {
				return err
			}
			return runWhoami(cmd.Context(), env, &o.BaseURL, id, o.Agent.Replaces())
		},
	}
	o.Agent.Add(env, cmd.Flags())
	o.BaseURL.Add(env, cmd.Flags())
	opt.AddAlwaysJSON(cmd.Flags())
	return cmd
}

func runWhoami(ctx context.Context, env *term.Env, base *opt.BaseURL, id hub.AgentID, replace bool) error {
	anonymous, err := base.Client()
	if err != nil {
		return err
	}
	defer anonymous.Close()
	c, err := register(ctx, anonymous, id, replace)
	if err != nil {
		return err
	}
	got, err := c.Bootstrap(ctx, id)
	if err != nil {
		return err
	}
	return term.PrintJSON(env.Stdout, got)
}
