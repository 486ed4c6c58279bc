package person

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

type releaseOptions struct {
	opt.BaseURL
	lock   string
	reason string
	json   bool
}

// NewRelease makes the command release.
func NewRelease(env *term.Env) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release [claim]",
		Short: "Take a claim or a lock from the agent that holds it",
		Long: `End a claim, or with --lock a file lock, that an agent holds. The holder and the agents
that wait for it are told the reason. The first in line gets it, with a higher fence, and
the command says who that is.

The command stops no program: what the holder does goes on until it calls the hub.`,
		Example: `  hubcli app release parser --reason "dev-a has been stuck for an hour"
  hubcli app release --lock src/parser.go --reason "the merge cannot wait"`,
		Args: opt.Between(0, "claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("lock") == (len(args) == 1) {
				return term.Usage("name a claim, or a file with --lock", "a release is of one claim or one lock")
			}
			if o.reason == "" {
				return term.Usage("say why with --reason: the agents that it concerns are told it", "--reason is missing")
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
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the last row of its holder as JSON")
	return cmd
}

func breakClaim(ctx context.Context, w io.Writer, o *releaseOptions, key hub.ClaimKey) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	return release(ctx, w, o.json, &takenLease{
		kind: "claim", name: string(key),
		look: func() (holder, error) {
			rows, _, err := c.Claims(ctx, hub.LeasesQuery{Key: string(key), ActiveOnly: true, Limit: 1})
			if err != nil || len(rows) == 0 {
				return holder{}, err
			}
			return holder{rows[0].OwnerAgentID, rows[0].Fence, len(rows[0].Waiters) > 0}, nil
		},
		take: func() (holder, any, error) {
			out, err := c.BreakClaim(ctx, hub.ClaimBreakInput{ClaimKey: key, Reason: o.reason})
			return holder{agent: out.Row.OwnerAgentID, fence: out.Row.Fence}, out.Row, err
		},
	})
}

func breakLock(ctx context.Context, w io.Writer, o *releaseOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	take := func(path string) error {
		return release(ctx, w, o.json, &takenLease{
			kind: "lock", name: path,
			look: func() (holder, error) {
				rows, _, err := c.Locks(ctx, hub.LeasesQuery{Key: path, ActiveOnly: true, Limit: 1})
				if err != nil || len(rows) == 0 {
					return holder{}, err
				}
				return holder{rows[0].AgentID, rows[0].Fence, len(rows[0].Waiters) > 0}, nil
			},
			take: func() (holder, any, error) {
				out, err := c.BreakLock(ctx, hub.LockBreakInput{FilePath: path, Reason: o.reason})
				return holder{agent: out.Row.AgentID, fence: out.Row.Fence}, out.Row, err
			},
		})
	}
	err = take(o.lock)
	if errors.Is(err, &hub.Error{Code: hub.CodeNotHolder}) { // agents lock files by their whole paths, too
		if whole, pathErr := opt.LockArgument(o.lock); pathErr == nil && whole != o.lock {
			err = take(whole)
		}
	}
	return err
}

// takenLease is a claim or a lock that is taken from its holder.
type takenLease struct {
	kind, name string
	look       func() (holder, error)      // its holder at this moment
	take       func() (holder, any, error) // its last holder, and the last row of that
}

// holder is the agent that holds a lease; the zero value is nobody.
type holder struct {
	agent   hub.AgentID
	fence   hub.Fence
	awaited bool // by other agents
}

// release takes a lease from its holder and says which agent has it then. It has succeeded when the
// lease is taken, whether the hub tells the next holder or not: a caller that tried again would
// take the lease from that agent.
func release(ctx context.Context, w io.Writer, asJSON bool, l *takenLease) error {
	if asJSON {
		_, row, err := l.take()
		if err != nil {
			return err
		}
		return term.PrintJSON(w, row)
	}
	before, lookErr := l.look()
	was, _, err := l.take()
	if err != nil {
		return err
	}
	next, err := l.successor(ctx, lookErr != nil || before.awaited)
	now := "nobody has it now"
	switch {
	case err != nil:
		now = fmt.Sprintf("the hub does not say who has it now: %v", err)
	case next.agent != "":
		now = fmt.Sprintf("%s has it now, with fence %d", next.agent, next.fence)
	}
	_, err = fmt.Fprintf(w, "took the %s \"%s\" from %s (fence %d); %s\n", l.kind, peertext.TerminalLine(l.name), peertext.TerminalLine(string(was.agent)), was.fence, peertext.TerminalLine(now))
	return err
}

// How long successor looks for the next holder, and how often.
const (
	successorWait = 5 * time.Second
	successorLook = 20 * time.Millisecond
)

// successor returns who has the lease now. If it was awaited, the first in line gets it with a
// record behind that of the break, which a slow disk may still write: successor looks again
// until that agent has it. If nobody has it after successorWait, those agents have stopped waiting.
func (l *takenLease) successor(ctx context.Context, awaited bool) (holder, error) {
	for deadline := time.Now().Add(successorWait); ; {
		next, err := l.look()
		if err != nil || next.agent != "" || !awaited || time.Now().After(deadline) {
			return next, err
		}
		if !pause.For(ctx, successorLook) {
			return holder{}, ctx.Err()
		}
	}
}
