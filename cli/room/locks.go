package room

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newRoomLocks(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		json bool
	}
	cmd := &cobra.Command{
		Use:   "locks [room] warn|refuse",
		Short: "Say what happens before an agent edits a locked file",
		Long: `Say what happens before an agent that works in the room edits a file on which
another agent holds the lock. With warn, the default, its harness tells the agent who
holds the lock. With refuse the edit does not happen. Either needs a harness with the
hook before-edit; "hubcli adapter install" writes it where there is such a hook.`,
		Example: `  hubcli room locks refuse
  hubcli room locks web-shop/checkout warn`,
		Args: policyArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			if err := o.TakeRoom(cmd, args[:last]); err != nil {
				return err
			}
			policy := hub.LockPolicy(args[last])
			if !slices.Contains(hub.LockPolicies(), policy) {
				return term.Usage("write warn or refuse", "there is no policy %q", args[last])
			}
			return runRoomLocks(cmd.Context(), env, &o.BaseURL, &o.RoomRef, policy, o.json)
		},
	}
	o.AddProject(cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the room as JSON")
	o.BaseURL.Add(env, cmd.Flags())
	return cmd
}

// policyArgument takes the policy, after the room if one is named.
func policyArgument(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return opt.Arity("policy")(cmd, args)
	}
	return opt.Arity("room", "policy")(cmd, args)
}

func runRoomLocks(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, policy hub.LockPolicy, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := ref.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	out, err := c.AsOperator().SetLocks(ctx, room.RoomID, hub.LockPolicyInput{Locks: policy})
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "room %s %s: locks %s\n", out.Row.RoomID, peertext.TerminalLine(out.Row.Slug), out.Row.Locks)
	return err
}
