package machine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewStop makes the command stop.
func NewStop(env *term.Env) *cobra.Command {
	var o struct {
		opt.AddressFlags
		opt.Storage
	}
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop a running hub",
		Long: `Stop the hub at the address and return once it is gone. Parked polls are
answered at once; everything acknowledged is on disk.

Without --host and --port the address is that in HUB_BASE_URL, if it is set, or the
one with the port that the data root remembers.
With an explicit --storage the hub must serve that store. If no hub runs, the
command does nothing and succeeds.`,
		Example: `  hubcli stop
  hubcli stop --port 7001
  hubcli stop --storage ./hub.sqlite3`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Settle(false); err != nil {
				return err
			}
			// Without --storage the hub at the address is stopped, whatever its
			// store.
			if err := o.Storage.Resolve(env, cmd); err != nil && o.Storage.Given {
				return err
			}
			return runStop(cmd.Context(), env, o.Address, o.Storage)
		},
	}
	o.AddressFlags.Add(env, cmd.Flags(), 1)
	o.Storage.Add(cmd.Flags())
	return cmd
}

func runStop(ctx context.Context, env *term.Env, a opt.Address, s opt.Storage) error {
	found := daemon.Probe(ctx, a.BaseURL())
	if s.Given {
		found = env.Machine().Recognize(ctx, a.BaseURL(), s.Path, found)
	}
	if pid := env.Machine().Earlier(a.BaseURL(), s.Path, found); pid != 0 {
		return earlierHub(term.ExitRefused, pid)
	}
	switch found.Kind {
	case daemon.Absent:
		if err := servedElsewhere(ctx, env, a, s); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "no hub runs at %s\n", a.BaseURL())
		return err
	case daemon.Hub:
	default:
		if errors.Is(found.Err, &hub.Error{Code: hub.CodeStoreGone}) { // it ends by itself
			return stopGone(ctx, env, a, found.Err)
		}
		return found.Err
	}
	if s.Given && !daemon.SameStore(found.Info.StoragePath, s.Path) {
		return otherStore(a, found.Info.StoragePath, s.Path)
	}
	if !found.Proved && client.OnThisMachine(a.BaseURL()) {
		if found.Owner != "" {
			return opt.OthersHub(a, found.Owner)
		}
		return term.Fail(term.ExitRefused, "if the hub there is yours, name its store with --storage, or set HUB_DATA_ROOT as it was when the hub was started; a hub of an earlier version is ended by its process",
			"the hub at %s is not known to be yours: no hub of your data root has served there", a.BaseURL())
	}
	if err := stopHub(ctx, env, a, found.Info); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "hub stopped at %s, store %s\n", a.BaseURL(), peertext.TerminalLine(found.Info.StoragePath))
	return err
}

// stopGone waits for the end of a hub whose store is gone.
func stopGone(ctx context.Context, env *term.Env, a opt.Address, why error) error {
	if err := env.Machine().AwaitEnd(ctx, a.BaseURL()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "hub ended at %s: %v\n", a.BaseURL(), why)
	return err
}

// servedElsewhere is the failure if --storage names a store that a hub serves
// at another address; nil if no hub serves it.
func servedElsewhere(ctx context.Context, env *term.Env, a opt.Address, s opt.Storage) error {
	if !s.Given || env.InspectStore == nil {
		return nil
	}
	info, err := env.InspectStore(s.Path)
	if err != nil || !info.Held {
		return nil
	}
	url, ok := info.Holder.ServesAt(ctx, s.Path)
	if !ok {
		return nil
	}
	other, _ := opt.PlainAddress(url)
	host := ""
	if other.Host != opt.DefaultHost {
		host = " --host " + other.Host
	}
	return term.Fail(term.ExitRefused, "stop that one: hubcli stop"+host+" --port "+strconv.Itoa(other.Port),
		"no hub runs at %s; the store %s is served by the hub at %s (process %d)", a.BaseURL(), s.Path, url, info.Holder.PID)
}

// stopHub asks the hub to stop and waits until its port and its store are free.
func stopHub(ctx context.Context, env *term.Env, a opt.Address, info hub.Info) error {
	err := env.Machine().Stop(ctx, a.BaseURL(), info)
	if errors.Is(err, daemon.ErrStillRuns) {
		return term.Fail(term.ExitWaitOver, "look into "+daemon.LogPath(info.StoragePath),
			"the hub at %s was told to stop and still runs after %s", a.BaseURL(), daemon.StopTimeout)
	}
	return err
}
