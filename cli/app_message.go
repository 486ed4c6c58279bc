package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func newAppMessage(env *Env) *cobra.Command {
	var o struct {
		baseURL
		agent
		json bool
	}
	cmd := &cobra.Command{
		Use:   "message <id>",
		Short: "Print one whole message",
		Long: `Print one message with its whole body, of which a poll may have shown a digest. Without
an agent the command reads as the operator, with the secret that it reads from the store,
and changes nothing. With --agent or HUB_AGENT it reads as that agent: a direct message is
shown to its sender and to its recipient, the message counts as read by the agent, and the
call is a sign of life of it, so a retired agent is back.`,
		Example: `  hubcli app message 12
  hubcli app message 12 --agent dev-a
  hubcli app message 12 --agent dev-a --json`,
		Args: arity("message id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			viewer, err := o.agent.optional()
			if err != nil {
				return err
			}
			var id int64
			if (idValue{&id}).Set(strings.TrimPrefix(args[0], "#")) != nil || id == 0 {
				return usage("give the number that poll shows after the #", "%q is no message id", args[0])
			}
			return runMessage(cmd.Context(), env, &o.baseURL, hub.MessageID(id), viewer, o.json)
		},
	}
	o.agent.addAs(env, cmd.Flags(), "agent", "`agent` that reads, if not the one in "+hook.EnvAgent+" (default: the operator)")
	o.baseURL.add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the message as JSON")
	return cmd
}

func runMessage(ctx context.Context, env *Env, base *baseURL, id hub.MessageID, viewer hub.AgentID, asJSON bool) error {
	c, err := base.client()
	if err != nil {
		return err
	}
	defer c.Close()
	reader := c
	if viewer == "" {
		reader = c.AsOperator()
	}
	encoded, err := reader.Message(ctx, id, viewer)
	if err != nil {
		return err
	}
	if asJSON {
		return printLine(env.Stdout, json.RawMessage(encoded))
	}
	m, err := encoded.Decode()
	if err != nil {
		return fmt.Errorf("the hub's answer has an unknown shape: %w", err)
	}
	to := string(m.Channel)
	if m.ToAgent != nil {
		to = "agent " + string(*m.ToAgent)
	}
	from := string(m.FromAgent)
	if m.User != "" {
		from += ", a program of the user " + m.User + ","
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\n%s\n", peertext.TerminalLine(fmt.Sprintf("#%d %s from %s to %s [%s]", m.ID, m.TS, from, to, m.Kind)), peertext.Terminal(m.Body))
	return err
}
