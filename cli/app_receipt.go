package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/integrations/hook"
)

type appReceiptOptions struct {
	agent
	baseURL
	json bool
}

func newAppReceipt(env *Env) *cobra.Command {
	var o appReceiptOptions
	cmd := &cobra.Command{
		Use:   "receipt <message id>",
		Short: "Show what has become of a direct message",
		Long: `Show whether the recipient of a direct message was told of it and has seen it, and
whether the recipient would notice a message now. The sender and the recipient may
ask.

stored means that the recipient was not told of the message yet; offered, that a
poll, a watch or a hook has handed it over; seen, that the recipient has polled
past it or replied to it. The command begins no session.`,
		Example: `  hubcli app receipt 12 --agent lead
  hubcli app receipt 12 --agent lead --json`,
		Args: arity("message id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := o.agent.check()
			if err != nil {
				return err
			}
			var message int64
			if (idValue{&message}).Set(args[0]) != nil || message == 0 {
				return usage("give the number that poll shows after the #", "%q is no message id", args[0])
			}
			return runAppReceipt(cmd.Context(), env, &o, hub.MessageID(message), id)
		},
	}
	f := cmd.Flags()
	o.agent.addAs(env, f, "agent", "`agent` that asks (required, unless "+hook.EnvAgent+" names it)")
	f.BoolVar(&o.json, "json", false, "print the receipt as JSON")
	o.baseURL.add(env, f)
	return cmd
}

func runAppReceipt(ctx context.Context, env *Env, o *appReceiptOptions, id hub.MessageID, agent hub.AgentID) error {
	c, err := o.baseURL.client()
	if err != nil {
		return err
	}
	defer c.Close()
	got, err := c.Receipt(ctx, id, agent)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(env.Stdout, got)
	}
	return printReceipt(env.Stdout, &got)
}

func printReceipt(w io.Writer, r *hub.Receipt) error {
	rows := [][2]string{
		{"message", fmt.Sprintf("#%d from %s to %s", r.MessageID, r.FromAgent, r.Recipient.AgentID)},
		{"stored", r.StoredAt.String()},
		{"state", fmt.Sprintf("%s: %s", r.State, r.Says())},
	}
	if o := r.Offered; o != nil && o.At != nil {
		rows = append(rows, [2]string{"offered", o.At.String()})
	}
	recipient := string(r.Recipient.State)
	if r.Recipient.LastSeen != nil {
		recipient += ", last call " + r.Recipient.LastSeen.String()
	}
	return printRows(w, append(rows, [2]string{"recipient", recipient}))
}
