package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

// ensure starts a hub if none runs and the address is one of this machine's own. What it returns
// is zero at any other address.
func (b *baseURL) ensure(ctx context.Context, env *Env, cmd *cobra.Command) (daemon.Started, error) {
	if err := b.check(); err != nil {
		return daemon.Started{}, err
	}
	at, ok := startable(b.url)
	if !ok {
		return daemon.Started{}, nil
	}
	start := startOptions{
		addressFlags: addressFlags{address: at, named: env.Getenv(hook.EnvBaseURL), flags: cmd.Flags(), unnamed: b.unnamed()},
		limits:       limits{hub.DefaultLimits()}, timeout: 60 * time.Second,
	}
	if err := start.storage.resolve(env, cmd); err != nil {
		return daemon.Started{}, err
	}
	got, err := start.start(ctx, env, cmd)
	if err == nil {
		b.url = start.baseURL()
	}
	return got, err
}
