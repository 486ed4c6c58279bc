package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/hubfile"
	"hubcli/internal/peertext"
)

// DaemonOptions are the root flags.
type DaemonOptions struct {
	opt.AddressFlags
	storage     string
	allowRemote bool
	quiet       bool
	opt.Spool
	opt.LimitFlags
	opt.Lifeline

	adopt       bool
	noAutoRooms bool

	// Hidden flags: ensure and app start use the first three for the daemon that
	// they start. An error about a truncated store names the last.
	logFile            string
	spoolHere          string // the default spool of the folder in which they were started
	autoEnsureAdapters bool
	acceptTruncated    bool
}

// Add declares the flags.
func (o *DaemonOptions) Add(env *term.Env, f *pflag.FlagSet) {
	o.AddressFlags.Add(env, f, 0)
	f.StringVar(&o.storage, "storage", opt.DefaultStorage, "`folder` of the store")
	f.BoolVar(&o.allowRemote, "allow-remote", false, "let --host name an address that other machines reach")
	f.BoolVar(&o.quiet, "quiet", false, "log warnings and errors only")
	o.Spool.Add(f)
	o.LimitFlags.Add(f)
	opt.AddAdopt(f, &o.adopt)
	opt.AddNoAutoRooms(f, &o.noAutoRooms)
	o.Lifeline.Add(f)
	f.StringVar(&o.logFile, opt.LogFileFlag, "", "")
	f.BoolVar(&o.autoEnsureAdapters, "auto-ensure-adapters", false, "")
	f.StringVar(&o.spoolHere, opt.SpoolHereFlag, "", "")
	f.BoolVar(&o.acceptTruncated, "accept-truncated", false, "")
	for _, name := range []string{opt.LogFileFlag, opt.SpoolHereFlag, "auto-ensure-adapters", "accept-truncated"} {
		f.Lookup(name).Hidden = true
	}
}

// RunDaemon serves in this process until ctx ends.
func RunDaemon(ctx context.Context, env *term.Env, cmd *cobra.Command, o *DaemonOptions) error {
	cfg, err := o.config(env, cmd)
	if err != nil {
		return err
	}
	if o.logFile != "" {
		daemon.IgnoreClosedOutput()
	}
	ctx, release := o.Tie(ctx, env.Stdin)
	defer release()
	// The port is bound first: a hub that cannot listen must not make a store.
	cfg.Listener, err = listen(ctx, env, o.Address, cfg.Storage, o.allowRemote)
	if err != nil {
		return err
	}
	var log *daemon.Log
	if o.logFile != "" {
		log = daemon.NewLog(o.logFile, env.Stderr)
		defer log.Close()
		cfg.Log = log
	} else {
		noteFileLimit(env)
	}
	cfg.Ready = func(addr string) {
		if log != nil {
			log.Open()
		}
		if !o.quiet {
			fmt.Fprintf(env.Stderr, "hubcli: ready at http://%s, store %s; stop with Ctrl-C or: hubcli stop%s\n",
				addr, peertext.TerminalLine(cfg.Storage), stopFlags(env, addr))
		}
	}
	err = env.Daemon(ctx, cfg)
	var f *term.Failure
	if err != nil && !errors.As(err, &f) {
		f = &term.Failure{Exit: term.ExitStore, Sentence: err.Error(), Err: err}
	}
	var held *daemon.HeldError
	if errors.As(err, &held) {
		f = heldFailure(ctx, cfg.Storage, held.Holder, secondHub("hubcli", o.Address))
	}
	if f != nil {
		if log != nil {
			log.Fail(f.Sentence)
		}
		return f
	}
	return nil
}

func (o *DaemonOptions) config(env *term.Env, cmd *cobra.Command) (term.DaemonConfig, error) {
	if err := o.Settle(true); err != nil {
		return term.DaemonConfig{}, err
	}
	if !o.Loopback() && !o.allowRemote {
		return term.DaemonConfig{}, opt.RemoteRefused(o.Host)
	}
	storage, err := opt.Absolute("--storage", o.storage)
	if err != nil {
		return term.DaemonConfig{}, err
	}
	spoolDir, err := opt.Absolute("--spool-dir", o.Spool.Dir)
	if o.spoolHere != "" && !cmd.Flags().Changed("spool-dir") {
		spoolDir, err = opt.Absolute("--"+opt.SpoolHereFlag, o.spoolHere)
	}
	if err != nil {
		return term.DaemonConfig{}, err
	}
	off, err := opt.AutoRoomsOff(env)
	if err != nil {
		return term.DaemonConfig{}, err
	}
	// Without a data root no adapters can be installed; a hub can run all the same.
	root, _ := env.DataRoot()
	return term.DaemonConfig{
		Host: o.Host, Port: o.Port, Storage: storage, DataRoot: root, NotedIn: root, MarkedIn: root, DataRootGiven: hubfile.DataRootMoved(env.Getenv, runtime.GOOS),
		AllowRemote: o.allowRemote, Quiet: o.quiet,
		SpoolDir: spoolDir, SpoolGiven: cmd.Flags().Changed("spool-dir"),
		Limits: o.Limits, AutoEnsureAdapters: o.autoEnsureAdapters,
		AcceptTruncated: o.acceptTruncated, Adopt: o.adopt, AutoRooms: !o.noAutoRooms && !off,
		Version: env.Version, Log: env.Stderr, LogFile: o.logFile,
	}, nil
}

// stopFlags returns the flags with which stop finds the hub at addr.
func stopFlags(env *term.Env, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	flags := ""
	if ip := net.ParseIP(host); host != opt.DefaultHost && (ip == nil || !ip.IsUnspecified()) {
		flags += " --host " + host
	}
	if own, _ := env.OwnPort(); port != strconv.Itoa(own) {
		flags += " --port " + port
	}
	return flags
}

// listen binds the address, or names the process that has it.
func listen(ctx context.Context, env *term.Env, a opt.Address, storage string, allowRemote bool) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", a.String())
	switch {
	case err == nil:
	case errors.Is(err, syscall.EADDRINUSE) || daemon.IsAddrInUse(err):
		return nil, portTaken(ctx, env, a, storage)
	case errors.Is(err, syscall.EACCES):
		return nil, term.Usage("choose a port from 1024 on", "port %d may not be listened on by this user", a.Port)
	default:
		return nil, term.Usage("choose an address of this machine, such as 127.0.0.1", "%s cannot be listened on: %v", a, reason(err))
	}
	// A name may resolve to any address, so the bound address is checked.
	if bound, ok := l.Addr().(*net.TCPAddr); !allowRemote && (!ok || !bound.IP.IsLoopback()) {
		l.Close()
		return nil, term.Usage("leave --host out, or add --allow-remote if other machines should reach the hub",
			"--host %s is not an address of this machine alone", a.Host)
	}
	return l, nil
}

// reason leaves out the address that net puts before an error.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// portTaken is the error for a port that is in use.
func portTaken(ctx context.Context, env *term.Env, a opt.Address, storage string) error {
	elsewhere := "choose another port with --port, or free this one with: hubcli stop" + stopFlags(env, a.String())
	found := daemon.Probe(ctx, a.BaseURL())
	switch {
	case found.Kind == daemon.Impostor:
		return found.Err
	case found.Kind == daemon.Hub && found.Proved && daemon.SameStore(found.Info.StoragePath, storage):
		return term.Fail(term.ExitUnreachable, "use the hub that runs, or stop it with: hubcli stop"+stopFlags(env, a.String()),
			"a hub of the same store already runs at %s", a.BaseURL())
	case found.Kind == daemon.Hub && found.Proved:
		return term.Fail(term.ExitUnreachable, elsewhere,
			"port %d is held by a hub with another store, %s", a.Port, found.Info.StoragePath)
	}
	other := found.Owner
	if other == "" {
		other = daemon.OtherUser(ctx, a.BaseURL())
	}
	switch other {
	default:
		return term.Fail(term.ExitUnreachable, "choose another port with --port; hubcli ensure finds one for a hub of your own and remembers it",
			opt.OthersWords, a.BaseURL(), peertext.TerminalLine(other))
	case "":
		return term.Fail(term.ExitUnreachable, "choose another port with --port", "port %d is held by another program", a.Port)
	}
}

// fewFiles is the least number of open files that a hub should be allowed: each
// connection takes one.
const fewFiles = 4096

// noteFileLimit warns if the system allows the hub only few connections.
func noteFileLimit(env *term.Env) {
	if n := daemon.OpenFiles(); n > 0 && n < fewFiles {
		env.Note("only %d files may be open at once, which bounds the connections; raise it with: ulimit -n", n)
	}
}
