//go:build !carries

package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/maker"
	"hubcli/internal/peertext"
	"hubcli/relay/forwarder"
)

type relayOptions struct {
	opt.BaseURL
	opt.Spool
	pollInterval   time.Duration
	requestTimeout time.Duration
	noNotify       bool
	opt.Lifeline
}

// NewRelay makes the command relay.
func NewRelay(env *term.Env) *cobra.Command {
	o := relayOptions{pollInterval: forwarder.DefaultPollInterval, requestTimeout: forwarder.DefaultRequestTimeout}
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Forward file-spooled relay requests to the local hub",
		Long: `Serve a folder for agents that cannot reach the hub's port: read the requests
that they write there, send them to the hub, and write the answers into the
folder. The folder is made if it is missing.

A hub that was started with --spool-dir does the same by itself, unless another hub
serves the folder already. Any number of forwarders may serve one folder, all for the
same hub. The command runs until it is interrupted. Unanswered requests stay in the
folder for the next forwarder.

A folder .hub-relay that none of your forwarders has made may have come with a
repository: it is served only if --spool-dir names it. What lies in a folder when a
forwarder accepts it is rejected.

For the hub, a process that can write into an agent's folder below requests is that
agent. Calls of the operator are not forwarded.`,
		Example: `  hubcli relay
  hubcli relay --spool-dir /srv/sandbox/spool --base-url http://127.0.0.1:7001`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRelay(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	o.BaseURL.Add(env, f)
	o.Spool.Add(f)
	f.Var(term.DurationValue{To: &o.pollInterval, Min: forwarder.MinPollInterval, Max: forwarder.MaxPollInterval, Style: term.InSeconds},
		"poll-interval-sec", "`time` between two looks at the folder, such as 0.5 or 500ms")
	f.Var(term.DurationValue{To: &o.requestTimeout, Min: forwarder.MinRequestTimeout, Max: forwarder.MaxRequestTimeout, Style: term.InSeconds},
		"request-timeout-sec", "`time` that one request may take, such as 30 or 30s")
	f.BoolVar(&o.noNotify, "no-notify", false, "")
	f.Lookup("no-notify").Hidden = true
	o.Lifeline.Add(f)
	return cmd
}

func runRelay(ctx context.Context, env *term.Env, cmd *cobra.Command, o *relayOptions) error {
	if err := o.BaseURL.Check(); err != nil {
		return err
	}
	dir, err := opt.Absolute("--spool-dir", o.Dir)
	if err != nil {
		return err
	}
	noteFileLimit(env)
	noteHub(ctx, env, o.URL)
	accept, err := acceptance(env, cmd)
	if err != nil {
		return err
	}
	f, err := forwarder.New(forwarder.Config{
		Dir: dir, Create: true, Accept: accept, BaseURL: o.URL,
		PollInterval: o.pollInterval, RequestTimeout: o.requestTimeout, Notify: !o.noNotify,
		Logger: slog.New(slog.NewTextHandler(env.Stderr, nil)),
		Ready: func() {
			fmt.Fprintf(env.Stderr, "hubcli: relay ready: spool %s, hub %s; stop with Ctrl-C\n", peertext.TerminalLine(dir), o.URL)
		},
	})
	if err != nil {
		return opt.AsUsage(err)
	}
	switch err := f.Make(); {
	case errors.Is(err, forwarder.ErrNotAccepted):
		return term.Usage("name it with --spool-dir, if it is yours: what lies in it by then is rejected; or name another folder",
			"the spool %s is not served: no forwarder of yours has made it", dir)
	case err != nil:
		return term.Usage("name a folder that you may write to with --spool-dir", "the spool cannot be made: %v", err)
	}
	ctx, release := o.Tie(ctx, env.Stdin)
	defer release()
	f.Run(ctx)
	if cause := context.Cause(ctx); !errors.Is(cause, term.ErrInterrupted) {
		return cause
	}
	return nil // a signal is the usual end, as for the daemon
}

// acceptance says which spools the command may serve. Without a data root it can leave no
// mark, so that it serves what is named.
func acceptance(env *term.Env, cmd *cobra.Command) (*forwarder.Acceptance, error) {
	a := &forwarder.Acceptance{Server: "relay", Named: cmd.Flags().Changed("spool-dir"), Anyones: true}
	root, err := env.DataRoot()
	switch {
	case err != nil && a.Named:
		return a, nil
	case err != nil:
		return nil, term.Usage("name the spool with --spool-dir, or set HUB_DATA_ROOT to a folder of your own", "without a data root nobody can tell whose spool %s is", opt.DefaultSpoolDir)
	}
	if a.Key, err = maker.Load(root); err != nil {
		return nil, term.Usage("set HUB_DATA_ROOT to a folder of your own that you may write to", "the secret of the data root cannot be had: %v", err)
	}
	return a, nil
}

// noteHub warns the operator that the relay was started too early or with a
// wrong address, before an agent gets an error.
func noteHub(ctx context.Context, env *term.Env, url string) {
	switch found := daemon.Probe(ctx, url); found.Kind {
	case daemon.Hub:
	case daemon.Impostor:
		env.Note("%v; until the hub is back, requests are answered 599", found.Err)
	case daemon.Others:
		env.Note("%v; requests are refused", found.Err)
	case daemon.Foreign:
		env.Note("the server at %s is not a hub", url)
	default:
		env.Note("no hub answers at %s yet; until one does, requests are answered 599", url)
	}
}
