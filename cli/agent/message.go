package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// NewMessage makes the command message.
func NewMessage(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		opt.Agent
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
		Args: opt.Arity("message id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			viewer, err := o.Agent.Optional()
			if err != nil {
				return err
			}
			var id int64
			if (term.IDValue{To: &id}).Set(strings.TrimPrefix(args[0], "#")) != nil || id == 0 {
				return term.Usage("give the number that poll shows after the #", "%q is no message id", args[0])
			}
			return runMessage(cmd.Context(), env, &o.BaseURL, hub.MessageID(id), viewer, o.json)
		},
	}
	o.Agent.AddAs(env, cmd.Flags(), "agent", "`agent` that reads, if not the one in "+hook.EnvAgent+" (default: the operator)")
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the message as JSON")
	return cmd
}

func runMessage(ctx context.Context, env *term.Env, base *opt.BaseURL, id hub.MessageID, viewer hub.AgentID, asJSON bool) error {
	c, err := base.Client()
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
		return term.PrintLine(env.Stdout, json.RawMessage(encoded))
	}
	m, err := encoded.Decode()
	if err != nil {
		return opt.UnknownShape(err)
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
