package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// leaseOptions are the flags of the commands that take a lease and give it back.
type leaseOptions struct {
	opt.Agent
	opt.BaseURL
	ttl, wait time.Duration
	release   bool
	json      bool
}

// leaseVerb is what differs between claims and locks.
type leaseVerb struct {
	list    string // the command that shows who holds what
	take    func(ctx context.Context, c *client.Client, in leaseInput) (leaseGrant, error)
	release func(ctx context.Context, c *client.Client, in leaseInput) (any, error)
}

type leaseInput struct {
	key   string
	agent hub.AgentID
	ttl   int     // seconds
	wait  float64 // seconds
}

// leaseGrant is the answer to a request for a lease.
type leaseGrant struct {
	acquired bool
	holder   hub.AgentID
	fence    hub.Fence
	expires  hub.Time
	row      any
	circle   []hub.AgentID // see hub.Grant
	other    string        // the file lock that overlaps the one that was asked for
}

// NewClaim makes the command claim.
func NewClaim(env *term.Env) *cobra.Command {
	return newLeaseVerb(env, &cobra.Command{
		Use:   "claim <key>",
		Short: "Take a claim as an agent, or give it back",
		Long: `Take the claim on a name for --agent, for programs without the tools of the hub. At any
moment one agent holds it. The holder that takes it again extends it. If another agent
holds it, the command ends with 1; with --wait it first waits its turn, also while the
hub is restarted, and ends with 4 if the turn does not come. A wait that would close a
circle of agents that wait for each other ends at once, with 1 and the agents in it.

A claim ends with --release or when its time is over, not with this command.`,
		Example: `  hubcli app claim parser --agent dev-a
  hubcli app claim parser --agent dev-b --wait 60 --ttl-sec 10m
  hubcli app claim parser --agent dev-a --release`,
	}, "key", leaseVerb{"hubcli claims", takeClaim, releaseClaim})
}

func takeClaim(ctx context.Context, c *client.Client, in leaseInput) (leaseGrant, error) {
	got, err := c.Claim(ctx, hub.ClaimInput{OwnerAgentID: in.agent, ClaimKey: hub.ClaimKey(in.key), TTLSec: in.ttl, WaitSec: in.wait})
	return leaseGrant{got.Acquired, got.Row.OwnerAgentID, got.Row.Fence, got.Row.ExpiresAt, got.Row, got.Circle, ""}, err
}

func releaseClaim(ctx context.Context, c *client.Client, in leaseInput) (any, error) {
	out, err := c.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: hub.ClaimKey(in.key), AgentID: in.agent})
	return out.Row, err
}

func newLeaseVerb(env *term.Env, cmd *cobra.Command, argument string, verb leaseVerb) *cobra.Command {
	o := leaseOptions{ttl: hub.DefaultTTLSec * time.Second}
	cmd.Args = opt.Arity(argument)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := o.Agent.Check()
		if err != nil {
			return err
		}
		if args[0] == "" {
			return term.Usage("name it", "the %s cannot be empty", argument)
		}
		if o.release && (cmd.Flags().Changed("ttl-sec") || cmd.Flags().Changed("wait")) {
			return term.Usage("leave --release out, or --ttl-sec and --wait", "--release gives back what the others take")
		}
		in := leaseInput{key: args[0], agent: id, ttl: int(o.ttl / time.Second)}
		return o.run(cmd.Context(), env, verb, in)
	}
	f := cmd.Flags()
	o.AddAs(env, f, "agent", "agent `id` to act as (required, unless "+hook.EnvAgent+" names it)")
	f.Var(term.DurationValue{To: &o.ttl, Min: hub.MinTTLSec * time.Second, Max: hub.MaxTTLSec * time.Second, Style: term.InWholeSeconds}, "ttl-sec", "`time` for which it is held, such as 300 or 5m")
	f.Var(term.DurationValue{To: &o.wait, Min: 0, Max: hub.MaxWaitSec * time.Second, Style: term.InSeconds}, "wait", "`time` to wait for its turn, such as 60, 60s or 1m")
	f.BoolVar(&o.release, "release", false, "give it back")
	f.BoolVar(&o.json, "json", false, "print the row as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

func (o *leaseOptions) run(ctx context.Context, env *term.Env, verb leaseVerb, in leaseInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	// On this machine the call goes without a session: none is displaced, and the
	// agent's next command does not end a wait.
	if !c.Local() {
		if c, err = register(ctx, c, in.agent, o.Replaces()); err != nil {
			return err
		}
	}
	if !o.release {
		return o.take(ctx, env, c, verb, in)
	}
	row, err := verb.release(ctx, c, in)
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintLine(env.Stdout, row)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s gave back %s\n", in.agent, peertext.TerminalLine(in.key))
	return err
}

// take asks until the lease is granted or the wait is over. A hub that stops ends the
// hub's wait early, and one that is killed gives no answer: asking again is safe,
// because the holder that takes a lease again extends it.
func (o *leaseOptions) take(ctx context.Context, env *term.Env, c *client.Client, verb leaseVerb, in leaseInput) error {
	for deadline := env.Now().Add(o.wait); ; {
		left := max(0, deadline.Sub(env.Now()))
		in.wait = left.Seconds()
		got, err := verb.take(ctx, c, in)
		over := !env.Now().Before(deadline)
		switch {
		case term.ExitOf(err) == term.ExitUnreachable && !over:
		case err != nil:
			return err
		case got.acquired && o.json:
			return term.PrintLine(env.Stdout, got.row)
		case got.acquired:
			_, err = fmt.Fprintf(env.Stdout, "%s holds %s for %s, fence %d\n", got.holder, peertext.TerminalLine(in.key), term.DurationText(o.ttl), got.fence)
			return err
		case len(got.circle) > 1:
			return term.Fail(term.ExitRefused, "give back what the others wait for, with --release, or agree with them",
				"%s is held by %s, and to wait for it would close a circle: %s", in.key, got.holder, circleText(got.circle))
		case over:
			return o.refused(verb, in, got)
		}
		if !pause.For(ctx, daemon.ProbeEvery) {
			return context.Cause(ctx)
		}
	}
}

// circleText says which agent of a circle waits for which.
func circleText(circle []hub.AgentID) string {
	parts := make([]string, len(circle))
	for i, agent := range circle {
		parts[i] = fmt.Sprintf("%s waits for %s", agent, circle[(i+1)%len(circle)])
	}
	return strings.Join(parts, ", ")
}

func (o *leaseOptions) refused(verb leaseVerb, in leaseInput, got leaseGrant) error {
	exit, fix := term.ExitRefused, "wait for it with --wait 60, or do something else meanwhile; "+verb.list+" shows who holds what"
	if o.wait > 0 {
		exit, fix = term.ExitWaitOver, "wait again, or do something else meanwhile; "+verb.list+" shows who holds what"
	}
	if got.other != "" {
		return term.Fail(exit, fix, "%s overlaps the lock of %s on %s, until %s", in.key, got.holder, peertext.TerminalLine(got.other), got.expires)
	}
	return term.Fail(exit, fix, "%s is held by %s until %s", in.key, got.holder, got.expires)
}
