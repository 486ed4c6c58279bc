package machine

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

// EnsureAt starts a hub if none runs and the address is one of this machine's own. What it returns
// is zero at any other address.
func EnsureAt(ctx context.Context, b *opt.BaseURL, env *term.Env, cmd *cobra.Command) (daemon.Started, error) {
	if err := b.Check(); err != nil {
		return daemon.Started{}, err
	}
	at, ok := opt.Startable(b.URL)
	if !ok {
		return daemon.Started{}, nil
	}
	start := StartOptions{
		AddressFlags: opt.AddressFlags{Address: at, Named: env.Getenv(hook.EnvBaseURL), Flags: cmd.Flags(), Unnamed: b.Unnamed()},
		LimitFlags:   opt.LimitFlags{Limits: hub.DefaultLimits()}, Timeout: 60 * time.Second,
	}
	if err := start.Storage.Resolve(env, cmd); err != nil {
		return daemon.Started{}, err
	}
	got, err := start.Start(ctx, env, cmd)
	if err == nil {
		b.URL = start.BaseURL()
	}
	return got, err
}
