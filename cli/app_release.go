package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

type releaseOptions struct {
	baseURL
	lock   string
	reason string
	json   bool
}

func newAppRelease(env *Env) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release [claim]",
		Short: "Take a claim or a lock from the agent that holds it",
		Long: `End a claim, or with --lock a file lock, that an agent holds. The holder and the agents
that wait for it are told the reason. The first in line gets it, with a higher fence.

The command stops no program: what the holder does goes on until it calls the hub.`,
		Example: `  hubcli app release parser --reason "dev-a has been stuck for an hour"
  hubcli app release --lock src/parser.go --reason "the merge cannot wait"`,
		Args: between(0, "claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("lock") == (len(args) == 1) {
				return usage("name a claim, or a file with --lock", "a release is of one claim or one lock")
			}
			if o.reason == "" {
				return usage("say why with --reason: the agents that it concerns are told it", "--reason is missing")
			}
			if len(args) == 1 {
				return breakClaim(cmd.Context(), env.Stdout, &o, hub.ClaimKey(args[0]))
			}
			return breakLock(cmd.Context(), env.Stdout, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.lock, "lock", "", "`path` of the file, as the agents name it")
	f.StringVar(&o.reason, "reason", "", "`text` that the agents are told (required)")
	o.baseURL.add(env, f)
	f.BoolVar(&o.json, "json", false, "print the last row of its holder as JSON")
	return cmd
}

func breakClaim(ctx context.Context, w io.Writer, o *releaseOptions, key hub.ClaimKey) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.BreakClaim(ctx, hub.ClaimBreakInput{ClaimKey: key, Reason: o.reason})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(w, out.Row)
	}
	rows, _, err := c.Claims(ctx, hub.LeasesQuery{Key: string(key), ActiveOnly: true, Limit: 1})
	if err != nil {
		return err
	}
	next := holder{}
	if len(rows) == 1 {
		next = holder{rows[0].OwnerAgentID, rows[0].Fence}
	}
	return printReleased(w, "claim", string(key), holder{out.Row.OwnerAgentID, out.Row.Fence}, next)
}

func breakLock(ctx context.Context, w io.Writer, o *releaseOptions) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.BreakLock(ctx, hub.LockBreakInput{FilePath: o.lock, Reason: o.reason})
	if errors.Is(err, &hub.Error{Code: hub.CodeNotHolder}) { // agents lock files by their whole paths, too
		if whole, pathErr := pathArgument([]string{o.lock}); pathErr == nil && whole != o.lock {
			o.lock = whole
			out, err = c.BreakLock(ctx, hub.LockBreakInput{FilePath: o.lock, Reason: o.reason})
		}
	}
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(w, out.Row)
	}
	rows, _, err := c.Locks(ctx, hub.LeasesQuery{Key: o.lock, ActiveOnly: true, Limit: 1})
	if err != nil {
		return err
	}
	next := holder{}
	if len(rows) == 1 {
		next = holder{rows[0].AgentID, rows[0].Fence}
	}
	return printReleased(w, "lock", o.lock, holder{out.Row.AgentID, out.Row.Fence}, next)
}

// holder is the agent that holds a lease; the zero value is nobody.
type holder struct {
	agent hub.AgentID
	fence hub.Fence
}

func printReleased(w io.Writer, kind, name string, was, next holder) error {
	now := "nobody has it now"
	if next.agent != "" {
		now = fmt.Sprintf("%s has it now, with fence %d", next.agent, next.fence)
	}
	_, err := fmt.Fprintf(w, "took the %s \"%s\" from %s (fence %d); %s\n", kind, peertext.TerminalLine(name), peertext.TerminalLine(string(was.agent)), was.fence, peertext.TerminalLine(now))
	return err
}
