package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newStop(env *Env) *cobra.Command {
	var o struct {
		addressFlags
		storage
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settle(false); err != nil {
				return err
			}
			// Without --storage the hub at the address is stopped, whatever its
			// store.
			if err := o.storage.resolve(env, cmd); err != nil && o.storage.given {
				return err
			}
			return runStop(cmd.Context(), env, o.address, o.storage)
		},
	}
	o.addressFlags.add(env, cmd.Flags(), 1)
	o.storage.add(cmd.Flags())
	return cmd
}

func runStop(ctx context.Context, env *Env, a address, s storage) error {
	found := daemon.Probe(ctx, a.baseURL())
	if s.given {
		found = env.machine().Recognize(ctx, a.baseURL(), s.path, found)
	}
	if pid := env.machine().Earlier(a.baseURL(), s.path, found); pid != 0 {
		return earlierHub(ExitRefused, pid)
	}
	switch found.Kind {
	case daemon.Absent:
		if err := servedElsewhere(ctx, env, a, s); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "no hub runs at %s\n", a.baseURL())
		return err
	case daemon.Hub:
	default:
		if errors.Is(found.Err, &hub.Error{Code: hub.CodeStoreGone}) { // it ends by itself
			return stopGone(ctx, env, a, found.Err)
		}
		return found.Err
	}
	if s.given && !daemon.SameStore(found.Info.StoragePath, s.path) {
		return otherStore(a, found.Info.StoragePath, s.path)
	}
	if !found.Proved && client.OnThisMachine(a.baseURL()) {
		if found.Owner != "" {
			return othersHub(a, found.Owner)
		}
		return fail(ExitRefused, "if the hub there is yours, name its store with --storage, or set HUB_DATA_ROOT as it was when the hub was started; a hub of an earlier version is ended by its process",
			"the hub at %s is not known to be yours: no hub of your data root has served there", a.baseURL())
	}
	if err := stopHub(ctx, env, a, found.Info); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "hub stopped at %s, store %s\n", a.baseURL(), peertext.TerminalLine(found.Info.StoragePath))
	return err
}

// stopGone waits for the end of a hub whose store is gone.
func stopGone(ctx context.Context, env *Env, a address, why error) error {
	if err := env.machine().AwaitEnd(ctx, a.baseURL()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Stdout, "hub ended at %s: %v\n", a.baseURL(), why)
	return err
}

// servedElsewhere is the failure if --storage names a store that a hub serves
// at another address; nil if no hub serves it.
func servedElsewhere(ctx context.Context, env *Env, a address, s storage) error {
	if !s.given || env.InspectStore == nil {
		return nil
	}
	info, err := env.InspectStore(s.path)
	if err != nil || !info.Held {
		return nil
	}
	url, ok := info.Holder.ServesAt(ctx, s.path)
	if !ok {
		return nil
	}
	other, _ := plainAddress(url)
	host := ""
	if other.host != defaultHost {
		host = " --host " + other.host
	}
	return fail(ExitRefused, "stop that one: hubcli stop"+host+" --port "+strconv.Itoa(other.port),
		"no hub runs at %s; the store %s is served by the hub at %s (process %d)", a.baseURL(), s.path, url, info.Holder.PID)
}

// stopHub asks the hub to stop and waits until its port and its store are free.
func stopHub(ctx context.Context, env *Env, a address, info hub.Info) error {
	err := env.machine().Stop(ctx, a.baseURL(), info)
	if errors.Is(err, daemon.ErrStillRuns) {
		return fail(ExitWaitOver, "look into "+daemon.LogPath(info.StoragePath),
			"the hub at %s was told to stop and still runs after %s", a.baseURL(), daemon.StopTimeout)
	}
	return err
}
