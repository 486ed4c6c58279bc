package person

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type endOptions struct {
	opt.BaseURL
	reason string
	json   bool
}

// NewEnd makes the command end.
func NewEnd(env *term.Env) *cobra.Command {
	var o endOptions
	cmd := &cobra.Command{
		Use:   "end <agent>",
		Short: "End the session of an agent",
		Long: `End the live session of an agent. The agent gets a message with the reason, and its
next call with that session is refused with it. Its bridge does not come back by itself.

The hub stops no program: what the agent does goes on until it calls the hub, and the
agent may begin another session. Its claims, locks and tasks stay: "hubcli app release"
and "hubcli app task" give them to others. To keep an agent still, use "hubcli app pause".`,
		Example: `  hubcli app end dev-a --reason "the work is done"
  hubcli app end dev-a --reason "two of you are too many" --json`,
		Args: opt.Arity("agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			agent := hub.AgentID(args[0])
			if err := hub.CheckSender("the agent", agent); err != nil {
				return opt.AsUsage(err)
			}
			if o.reason == "" {
				return term.Usage("say why with --reason: the agent is told it", "--reason is missing")
			}
			return runEnd(cmd.Context(), env, &o, agent)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "`text` that the agent is told (required)")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func runEnd(ctx context.Context, env *term.Env, o *endOptions, agent hub.AgentID) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.EndSession(ctx, agent, hub.SessionEndInput{Reason: o.reason})
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "ended session %s of %s; its program goes on until its next call of the hub\n", out.Row.SessionID, peertext.TerminalLine(string(agent)))
	return err
}
