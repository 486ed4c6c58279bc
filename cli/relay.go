package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/internal/peertext"
	"hubcli/relay"
	"hubcli/relay/forwarder"
)

type relayOptions struct {
	baseURL
	spool
	pollInterval   time.Duration
	requestTimeout time.Duration
	noNotify       bool
	lifeline
}

func newRelay(env *Env) *cobra.Command {
	o := relayOptions{pollInterval: forwarder.DefaultPollInterval, requestTimeout: forwarder.DefaultRequestTimeout}
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Forward file-spooled relay requests to the local hub",
		Long: `Serve a folder for agents that cannot reach the hub's port: read the requests
that they write there, send them to the hub, and write the answers into the
folder. The folder is made if it is missing.

A hub that was started with --spool-dir, or in a folder that holds .hub-relay,
does the same by itself, unless another hub serves the folder already. Any number
of forwarders may serve one folder, all for the same hub. The command runs until it
is interrupted. Unanswered requests stay in the folder for the next forwarder.

For the hub, a process that can write into an agent's folder below requests is that
agent. Calls of the operator are not forwarded.`,
		Example: `  hubcli relay
  hubcli relay --spool-dir /srv/sandbox/spool --base-url http://127.0.0.1:7001`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRelay(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	o.baseURL.add(env, f)
	o.spool.add(f)
	f.Var(durationValue{&o.pollInterval, forwarder.MinPollInterval, forwarder.MaxPollInterval, inSeconds},
		"poll-interval-sec", "`time` between two looks at the folder, such as 0.5 or 500ms")
	f.Var(durationValue{&o.requestTimeout, forwarder.MinRequestTimeout, forwarder.MaxRequestTimeout, inSeconds},
		"request-timeout-sec", "`time` that one request may take, such as 30 or 30s")
	f.BoolVar(&o.noNotify, "no-notify", false, "")
	f.Lookup("no-notify").Hidden = true
	o.lifeline.add(f)
	return cmd
}

func runRelay(ctx context.Context, env *Env, o *relayOptions) error {
	if err := o.baseURL.check(); err != nil {
		return err
	}
	dir, err := absolute("--spool-dir", o.dir)
	if err != nil {
		return err
	}
	noteFileLimit(env)
	noteHub(ctx, env, o.url)
	if err := relay.MakeSpool(dir); err != nil {
		return usage("name a folder that you may write to with --spool-dir", "the spool cannot be made: %v", err)
	}
	f, err := forwarder.New(forwarder.Config{
		Dir: dir, Create: true, BaseURL: o.url,
		PollInterval: o.pollInterval, RequestTimeout: o.requestTimeout, Notify: !o.noNotify,
		Logger: slog.New(slog.NewTextHandler(env.Stderr, nil)),
		Ready: func() {
			fmt.Fprintf(env.Stderr, "hubcli: relay ready: spool %s, hub %s; stop with Ctrl-C\n", peertext.TerminalLine(dir), o.url)
		},
	})
	if err != nil {
		return asUsage(err)
	}
	ctx, release := o.tie(ctx, env.Stdin)
	defer release()
	f.Run(ctx)
	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
		return cause
	}
	return nil // a signal is the usual end, as for the daemon
}

// noteHub warns the operator that the relay was started too early or with a
// wrong address, before an agent gets an error.
func noteHub(ctx context.Context, env *Env, url string) {
	switch found := daemon.Probe(ctx, url); found.Kind {
	case daemon.Hub:
	case daemon.Foreign:
		env.note("the server at %s is not a hub", url)
	default:
		env.note("no hub answers at %s yet; until one does, requests are answered 599", url)
	}
}
