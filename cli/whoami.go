package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hubcli/hub"
)

func newWhoami(env *Env) *cobra.Command {
	var o struct {
		agent
		baseURL
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
		Args:    arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := o.agent.check()
			if err != nil {
				return err
			}
			return runWhoami(cmd.Context(), env, &o.baseURL, id, o.agent.replaces())
		},
	}
	o.agent.add(env, cmd.Flags())
	o.baseURL.add(env, cmd.Flags())
	return cmd
}

func runWhoami(ctx context.Context, env *Env, base *baseURL, id hub.AgentID, replace bool) error {
	anonymous, err := base.client()
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
	return printJSON(env.Stdout, got)
}
