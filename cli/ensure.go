package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// startOptions are the flags with which a daemon is brought up in the
// background.
type startOptions struct {
	addressFlags
	storage
	allowRemote bool
	spool
	limits
	timeout            time.Duration
	quiet              bool
	autoEnsureAdapters bool
	json               bool
}

func newEnsure(env *Env) *cobra.Command {
	o := startOptions{timeout: 60 * time.Second}
	cmd := &cobra.Command{
		Use:   "ensure",
		Short: "Start hub if not already running, then exit",
		Long: `Make sure that a hub runs at the address, and return once it answers.

If none runs, one is started in the background; it logs to hub.log in its store.
However many callers run this at once, exactly one hub starts and all succeed.
A store has one hub: if another one serves it at another address, that is said at
once, with its process and address.
Without --host and --port the address is that in HUB_BASE_URL, if it is set.
A running hub that serves another store than an explicit --storage is an error;
other options that differ from the running hub's are only a warning.`,
		Example: `  hubcli ensure
  hubcli ensure --port 7001 --storage ./hub.sqlite3
  hubcli ensure --json`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEnsure(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	o.addressFlags.add(env, f, 1)
	o.storage.add(f)
	o.spool.add(f)
	f.Var(secondsValue{&o.timeout}, "timeout", "`seconds` to wait for the hub")
	f.BoolVar(&o.allowRemote, "allow-remote", false, "let --host name an address that other machines reach")
	o.limits.add(f)
	f.BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func runEnsure(ctx context.Context, env *Env, cmd *cobra.Command, o *startOptions) error {
	if err := o.settle(true); err != nil {
		return err
	}
	// A hub that runs there already has been let; only a new one needs the flag.
	if !o.loopback() && !o.allowRemote && daemon.Probe(ctx, o.baseURL()).Kind != daemon.Hub {
		return remoteRefused(o.host)
	}
	if err := o.storage.resolve(env, cmd); err != nil {
		return err
	}
	if !o.storage.given {
		if _, err := env.makeDataRoot(); err != nil {
			return err
		}
	}
	args, err := o.daemonArgs(cmd)
	if err != nil {
		return err
	}
	s := &starter{
		env: env, addr: o.address, storage: o.storage.path, explain: o.storage.given,
		timeout: o.timeout, daemon: args, want: o.options(cmd),
	}
	got, err := s.run(ctx)
	if err != nil {
		return err
	}
	return printStarted(env, o, got)
}

func printStarted(env *Env, o *startOptions, got started) error {
	if o.json {
		return printJSON(env.Stdout, got)
	}
	if o.quiet {
		return nil
	}
	verb := "already runs"
	if got.Started {
		verb = "started"
	}
	_, err := fmt.Fprintf(env.Stdout, "hub %s at %s, store %s\n", verb, got.BaseURL, peertext.TerminalLine(got.StoragePath))
	return err
}

// daemonArgs are the root flags of the daemon to start.
func (o *startOptions) daemonArgs(cmd *cobra.Command) ([]string, error) {
	args := []string{
		"--host", o.host, "--port", strconv.Itoa(o.port),
		"--storage", o.storage.path, "--" + logFileFlag, logPath(o.storage.path),
		"--max-body-chars", strconv.Itoa(o.MaxBodyChars),
		"--max-attachment-chars", strconv.Itoa(o.MaxAttachmentChars),
		"--max-attachments", strconv.Itoa(o.MaxAttachments),
	}
	if cmd.Flags().Changed("spool-dir") {
		dir, err := absolute("--spool-dir", o.spool.dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--spool-dir", dir)
	}
	for flag, on := range map[string]bool{
		"--allow-remote": o.allowRemote, "--quiet": o.quiet, "--auto-ensure-adapters": o.autoEnsureAdapters,
	} {
		if on {
			args = append(args, flag)
		}
	}
	return args, nil
}

// options are those that were given and that a running hub shows.
func (o *startOptions) options(cmd *cobra.Command) []option {
	all := []option{
		{"allow-remote", o.allowRemote, func(i hub.Info) any { return i.AllowRemote }},
		{"max-body-chars", o.MaxBodyChars, func(i hub.Info) any { return i.MaxBodyChars }},
		{"max-attachment-chars", o.MaxAttachmentChars, func(i hub.Info) any { return i.MaxAttachmentChars }},
		{"max-attachments", o.MaxAttachments, func(i hub.Info) any { return i.MaxAttachments }},
	}
	var given []option
	for _, each := range all {
		if cmd.Flags().Changed(each.flag) {
			given = append(given, each)
		}
	}
	return given
}
