package person

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

type appReceiptOptions struct {
	opt.Agent
	opt.BaseURL
	json bool
}

// NewReceipt makes the command receipt.
func NewReceipt(env *term.Env) *cobra.Command {
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
		Args: opt.Arity("message id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := o.Agent.Check()
			if err != nil {
				return err
			}
			var message int64
			if (term.IDValue{To: &message}).Set(args[0]) != nil || message == 0 {
				return term.Usage("give the number that poll shows after the #", "%q is no message id", args[0])
			}
			return runAppReceipt(cmd.Context(), env, &o, hub.MessageID(message), id)
		},
	}
	f := cmd.Flags()
	o.Agent.AddAs(env, f, "agent", "`agent` that asks (required, unless "+hook.EnvAgent+" names it)")
	f.BoolVar(&o.json, "json", false, "print the receipt as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

func runAppReceipt(ctx context.Context, env *term.Env, o *appReceiptOptions, id hub.MessageID, agent hub.AgentID) error {
	c, err := o.BaseURL.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	got, err := c.Receipt(ctx, id, agent)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, got)
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
	return term.PrintRows(w, append(rows, [2]string{"recipient", recipient}))
}
