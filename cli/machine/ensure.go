package machine

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewEnsure makes the command ensure.
func NewEnsure(env *term.Env) *cobra.Command {
	o := StartOptions{Timeout: 60 * time.Second}
	cmd := &cobra.Command{
		Use:   "ensure",
		Short: "Start hub if not already running, then exit",
		Long: `Make sure that a hub runs at the address, and return once it answers.

If none runs, the command starts one in the background, which logs to hub.log in
its store. However many callers run this at once, exactly one hub starts and all
succeed. A store has one hub: if another hub serves the store at another address,
the command fails at once and names that hub's process and address.
Without --host and --port the address comes from HUB_BASE_URL, if that is set, or
else from the port that the data root remembers. Where nothing names the address and
the hub there is another user's, your hub gets a port of its own, which is remembered.
It is an error if the running hub does not serve the store that --storage names;
other options that differ from the running hub's only cause a warning.`,
		Example: `  hubcli ensure
  hubcli ensure --port 7001 --storage ./hub.sqlite3
  hubcli ensure --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return RunEnsure(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	o.AddressFlags.Add(env, f, 1)
	o.Storage.Add(f)
	o.Spool.Add(f)
	f.Var(term.WaitValue(&o.Timeout, term.InSeconds), "timeout", "`time` to wait for the hub, such as 90, 90s or 5m")
	f.BoolVar(&o.AllowRemote, "allow-remote", false, "let --host name an address that other machines reach")
	o.LimitFlags.Add(f)
	opt.AddAdopt(f, &o.Adopt)
	opt.AddNoAutoRooms(f, &o.NoAutoRooms)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

// RunEnsure starts a hub if none runs at the address, and says which one it is.
func RunEnsure(ctx context.Context, env *term.Env, cmd *cobra.Command, o *StartOptions) error {
	if err := o.Settle(true); err != nil {
		return err
	}
	// A running hub was allowed to listen there; only a new one needs the flag.
	if !o.Loopback() && !o.AllowRemote && daemon.Probe(ctx, o.BaseURL()).Kind != daemon.Hub {
		return opt.RemoteRefused(o.Host)
	}
	if err := o.Storage.Resolve(env, cmd); err != nil {
		return err
	}
	got, err := o.Start(ctx, env, cmd)
	if err != nil {
		return err
	}
	if root, err := env.DataRoot(); err == nil {
		if text, fix := daemon.NoSocket(root, o.BaseURL(), env.InspectStore); text != "" {
			env.Note("%s. To mend it: %s", text, fix)
		}
	}
	return printStarted(env, o, got)
}

// started is the answer of ensure.
type started struct {
	BaseURL     string         `json:"base_url"`
	Started     bool           `json:"started"` // by this call
	StoragePath string         `json:"storage_path"`
	InstanceID  hub.InstanceID `json:"instance_id"`
	Version     string         `json:"version"`
	PID         int            `json:"pid,omitempty"` // of the daemon this call started
}

func printStarted(env *term.Env, o *StartOptions, hub daemon.Started) error {
	got := started{
		BaseURL: o.BaseURL(), Started: hub.PID != 0, PID: hub.PID, StoragePath: hub.Info.StoragePath,
		InstanceID: hub.Info.InstanceID, Version: hub.Info.ImplementationVersion,
	}
	if o.json {
		return term.PrintJSON(env.Stdout, got)
	}
	if o.Quiet {
		return nil
	}
	verb := "already runs"
	if got.Started {
		verb = "started"
	}
	_, err := fmt.Fprintf(env.Stdout, "hub %s at %s, store %s\n", verb, got.BaseURL, peertext.TerminalLine(got.StoragePath))
	return err
}
