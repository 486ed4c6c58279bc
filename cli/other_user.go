package cli

import (
	"context"
	"errors"

	"hubcli/cli/daemon"
	"hubcli/internal/hubfile"
	"hubcli/internal/peertext"
)

// mostMoves bounds how often one start looks for another port: another user's program may take
// the port that was free just now.
const mostMoves = 5

// ownPort is the port at which programs of this user expect their hub. The error says why what
// the data root remembers cannot be used. Run looks once for all its commands.
func (e *Env) ownPort() (int, error) {
	if e.port != 0 {
		return e.port, e.portUnusable
	}
	root, err := e.dataRoot()
	if err != nil {
		return defaultPort, nil
	}
	return hubfile.LookPort(root)
}

// otherUser names the other user of this machine whose program has the address, if the failure of
// a start may come of that; else "".
func (o *startOptions) otherUser(ctx context.Context, failed error) string {
	var e *daemon.StartError
	if !errors.As(failed, &e) {
		return ""
	}
	switch e.Why { //nolint:exhaustive // the others do not say that something has the address
	case daemon.OthersHub:
		return e.Owner
	case daemon.PortTaken, daemon.NotProved, daemon.PortMute:
		return daemon.OtherUser(ctx, o.baseURL())
	case daemon.Died:
		if e.Exit == ExitUnreachable { // the port was taken
			return daemon.OtherUser(ctx, o.baseURL())
		}
	}
	return ""
}

// othersHub is the failure of an address that another user has.
func (a *addressFlags) othersHub(other string) *Failure {
	fix := "start a hub of your own: hubcli ensure without --host and --port finds a port for it and remembers it; or name a free one with --port"
	if a.named != "" && !a.given() {
		fix = "start a hub of your own: hubcli ensure without HUB_BASE_URL finds a port for it and remembers it"
	}
	return fail(ExitUnreachable, fix, othersWords, a.baseURL(), peertext.TerminalLine(other))
}

// othersWords say whose a hub is.
const othersWords = "this hub is another user's: %s is %s's"

// othersHub is the failure of a command that a user gives to the hub of another one.
func othersHub(a address, other string) *Failure {
	return fail(ExitRefused, "name the address of your own hub with --host and --port", othersWords, a.baseURL(), peertext.TerminalLine(other))
}

// leave remembers another port for this user's hub, because what it has is another user's: that of
// the hub that serves the store already, or a free one.
func (o *startOptions) leave(ctx context.Context, env *Env, other string) error {
	root, err := env.dataRoot()
	if err != nil {
		return err
	}
	taken := o.baseURL()
	port, served := o.served(ctx, env)
	if served {
		err = hubfile.RememberPort(ctx, root, port)
	} else {
		port, err = hubfile.ChoosePort(ctx, root, o.port)
	}
	if err != nil {
		return portNotKept(err)
	}
	o.address = address{host: defaultHost, port: port}
	env.note(othersWords+". Your own hub is at %s from now on, and your programs find it there without a flag",
		taken, peertext.TerminalLine(other), o.baseURL())
	return nil
}

func portNotKept(err error) *Failure {
	return &Failure{
		Exit: ExitRefused, Err: err, Sentence: "the data root cannot remember a port for your hub: " + err.Error(),
		Fix: "see to the folder, or name a free port with --port, and for programs that use the hub in HUB_BASE_URL",
	}
}

// recall mends a port in the data root that cannot be used: the hub that serves the store tells
// which one it was. Without such a hub the default port is tried first.
func (o *startOptions) recall(ctx context.Context, env *Env) error {
	root, err := env.dataRoot()
	if err != nil {
		return err
	}
	_, unusable := hubfile.LookPort(root)
	if unusable == nil {
		return nil
	}
	port, served := o.served(ctx, env)
	if !served {
		env.note("the port of your hub that the data root remembers cannot be used: %v; port %d is tried", unusable, o.port)
		return nil
	}
	if err := hubfile.RememberPort(ctx, root, port); err != nil {
		return portNotKept(err)
	}
	env.note("the port of your hub that the data root remembers could not be used: %v; it is %d again, where your hub is", unusable, port)
	o.address = address{host: defaultHost, port: port}
	return nil
}

// served returns the port of the hub that serves this user's store, if it can be reached there at
// the usual address.
func (o *startOptions) served(ctx context.Context, env *Env) (int, bool) {
	if o.storage.given || env.InspectStore == nil {
		return 0, false
	}
	info, err := env.InspectStore(o.storage.path)
	if err != nil || !info.Held {
		return 0, false
	}
	url, ok := info.Holder.ServesAt(ctx, o.storage.path)
	if !ok {
		return 0, false
	}
	at, ok := plainAddress(url)
	return at.port, ok && at.host == defaultHost
}
