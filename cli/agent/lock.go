package agent

import (
	"context"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewLock makes the command lock.
func NewLock(env *term.Env) *cobra.Command {
	return newLeaseVerb(env, &cobra.Command{
		Use:   "lock <file>",
		Short: "Lock a file or folder as an agent, or unlock it",
		Long: `Take the lock on a file for --agent, for programs without the tools of the hub. It is
advice: agents that ask first do not edit the file meanwhile, and nothing stops a write.
The holder that takes it again extends it. If another agent holds it, the command ends
with 1; with --wait it first waits its turn, also while the hub is restarted, and ends
with 4 if the turn does not come.

The lock on a folder covers all that lies below, and so does a pattern: * stands for any
characters of one part of a path, ? for one, ** for any number of parts, and a pattern
that ends with an extension, such as *.sql, is of files alone. Put a pattern in quotes.
Where a lock of another agent overlaps yours, the command says which, and ends as above.

A lock ends with --release or when its time is over, not with this command.`,
		Example: `  hubcli app lock src/parser.go --agent dev-a
  hubcli app lock src/parser.go --agent dev-b --wait 60
  hubcli app lock 'src/**/*.sql' --agent dev-b
  hubcli app lock src/parser.go --agent dev-a --release`,
	}, "file", leaseVerb{"hubcli locks", takeLock, releaseLock})
}

func takeLock(ctx context.Context, c *client.Client, in leaseInput) (leaseGrant, error) {
	path, err := opt.LockArgument(in.key)
	if err != nil {
		return leaseGrant{}, err
	}
	got, err := c.Lock(ctx, hub.LockInput{AgentID: in.agent, FilePath: path, TTLSec: in.ttl, WaitSec: in.wait})
	g := leaseGrant{got.Acquired, got.Row.AgentID, got.Row.Fence, got.Row.ExpiresAt, got.Row, got.Circle, ""}
	if !got.Acquired && got.Row.FilePath != path {
		g.other = got.Row.FilePath
	}
	return g, err
}

func releaseLock(ctx context.Context, c *client.Client, in leaseInput) (any, error) {
	path, err := opt.LockArgument(in.key)
	if err != nil {
		return nil, err
	}
	out, err := c.ReleaseLock(ctx, hub.LockHoldInput{AgentID: in.agent, FilePath: path})
	return out.Row, err
}
