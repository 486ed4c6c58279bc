//go:build !carries

package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/smoke"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/relay"
)

// The ways to the hub that a smoke-test role may take.
const (
	overHTTP  = "http"
	overRelay = "relay"
)

type smokeOptions struct {
	opt.BaseURL
	role         string
	transport    string
	relayDir     string
	channel      string
	threadID     string
	claimKey     string
	timeout      time.Duration
	pollInterval time.Duration
}

// NewSmokeAgent makes the command smoke-agent.
func NewSmokeAgent(env *term.Env) *cobra.Command {
	o := smokeOptions{timeout: smoke.DefaultTimeout, pollInterval: smoke.DefaultPollInterval}
	cmd := &cobra.Command{
		Use:   "smoke-agent",
		Short: "Run a deterministic smoke-test role",
		Long: `Play one of three agents that test a hub together: that they are registered and
listed, that messages come once and in order, that direct messages stay private,
that a claim and a lock have one holder at a time, that tasks are completed and
roll up, and that no lease or session is left. Start the three roles at about the same
time, in any order, each over HTTP or through the spool of a relay.

Each step is a line on stdout. The exit code is 0 if all steps went well, 1 if
the hub did not keep the contract or another role did not come in time, 3 if no
hub answers.

The roles act as the agents smoke-a, smoke-b and smoke-c, and displace sessions
of these ids. The test may be run on a hub that is in use, as often as wanted.`,
		Example: `  hubcli smoke-agent --role smoke-a --transport http &
  hubcli smoke-agent --role smoke-b --transport http &
  hubcli smoke-agent --role smoke-c --transport relay --relay-dir /srv/sandbox/spool`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSmokeAgent(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.Var(term.ChoiceValue{To: &o.role, Choices: roleNames()}, "role", "`role` to play: smoke-a, smoke-b or smoke-c (required)")
	f.Var(term.ChoiceValue{To: &o.transport, Choices: []string{overHTTP, overRelay}}, "transport", "`way` to the hub: http or relay (required)")
	o.BaseURL.Add(env, f)
	f.StringVar(&o.relayDir, "relay-dir", relay.DefaultDir, "`folder` of the file spool, for the transport relay")
	f.StringVar(&o.channel, "channel", string(smoke.DefaultChannel), "`name` of the channel that the roles meet in")
	f.StringVar(&o.threadID, "thread-id", string(smoke.DefaultThread), "`thread` that they write in")
	f.StringVar(&o.claimKey, "claim-key", string(smoke.DefaultClaim), "`key` of the claim that they compete for")
	f.Var(term.DurationValue{To: &o.timeout, Min: time.Second, Max: term.MaxSeconds * time.Second, Style: term.InSeconds},
		"timeout-sec", "`time` that the whole run may take, such as 90, 90s or 5m")
	f.Var(term.DurationValue{To: &o.pollInterval, Min: 10 * time.Millisecond, Max: hub.MaxPollWait, Style: term.InSeconds},
		"poll-interval-sec", "`time` that one poll waits for messages, such as 1 or 500ms")
	return cmd
}

func roleNames() []string {
	var names []string
	for _, role := range smoke.Roles() {
		names = append(names, string(role))
	}
	return names
}

func runSmokeAgent(ctx context.Context, env *term.Env, o *smokeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	c, done, err := o.connect()
	if err != nil {
		return err
	}
	defer done()
	err = smoke.Run(ctx, smoke.Config{
		Role: hub.AgentID(o.role), Client: c, Sessions: o.transport == overHTTP,
		Channel: hub.ChannelName(o.channel), Thread: hub.ThreadID(o.threadID), Claim: hub.ClaimKey(o.claimKey),
		Timeout: o.timeout, PollInterval: o.pollInterval, Out: env.Stdout,
		Trouble: func(err error) { env.Note("%s: %v; trying again", o.role, err) },
	})
	return smokeFailure(err)
}

// check finds missing values and malformed names.
func (o *smokeOptions) check() error {
	switch {
	case o.role == "":
		return term.Usage("name one of "+strings.Join(roleNames(), ", "), "--role is missing")
	case o.transport == "":
		return term.Usage("name http, or relay for a spool", "--transport is missing")
	}
	for flag, name := range map[string]string{"--channel": o.channel, "--thread-id": o.threadID, "--claim-key": o.claimKey} {
		if err := hub.CheckName(flag, name, hub.MaxNameChars); err != nil {
			return opt.AsUsage(err)
		}
	}
	return nil
}

// connect makes the client, over HTTP or through a spool. done closes it.
func (o *smokeOptions) connect() (c *client.Client, done func(), err error) {
	if o.transport == overHTTP {
		if c, err = o.BaseURL.Client(); err != nil {
			return nil, nil, err
		}
		return c, c.Close, nil
	}
	dir, err := opt.Absolute("--relay-dir", o.relayDir)
	if err != nil {
		return nil, nil, err
	}
	c, transport, err := relay.NewClient(relay.TransportConfig{
		Dir: dir, Agent: hub.AgentID(o.role), Timeout: min(relay.DefaultTimeout, o.timeout),
	})
	if err != nil {
		return nil, nil, opt.AsUsage(err)
	}
	return c, transport.CloseIdleConnections, nil
}

// smokeFailure shows how a role has failed, and what the hub advised.
func smokeFailure(err error) error {
	var f *smoke.Failure
	if !errors.As(err, &f) {
		return err
	}
	shown := &term.Failure{Exit: term.ExitRefused, Sentence: f.Error(), Err: err, Fix: "docs/smoke.md describes each step"}
	var h *hub.Error
	if errors.As(f.Err, &h) {
		shown.Exit = term.ExitOf(h)
		switch {
		case h.Code == hub.CodeSessionReplaced:
			shown.Fix = "another process plays the same role on this hub; end it, or wait until it has ended"
		case h.FixFor(hub.ForCLI) != "":
			shown.Fix = h.FixFor(hub.ForCLI)
		}
	}
	return shown
}
