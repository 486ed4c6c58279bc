package machine

import (
	"context"
	"errors"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/hubfile"
	"hubcli/internal/peertext"
)

// mostMoves bounds how often one start looks for another port: another user's program may take
// the port that was free just now.
const mostMoves = 5

// otherUser names the other user of this machine whose program has the address, if the failure of
// a start may come of that; else "".
func (o *StartOptions) otherUser(ctx context.Context, failed error) string {
	var e *daemon.StartError
	if !errors.As(failed, &e) {
		return ""
	}
	switch e.Why { //nolint:exhaustive // the others do not say that something has the address
	case daemon.OthersHub:
		return e.Owner
	case daemon.PortTaken, daemon.NotProved, daemon.PortMute:
		return daemon.OtherUser(ctx, o.BaseURL())
	case daemon.Died:
		if e.Exit == term.ExitUnreachable { // the port was taken
			return daemon.OtherUser(ctx, o.BaseURL())
		}
	}
	return ""
}

// leave remembers another port for this user's hub, because what it has is another user's: that of
// the hub that serves the store already, or a free one.
func (o *StartOptions) leave(ctx context.Context, env *term.Env, other string) error {
	root, err := env.DataRoot()
	if err != nil {
		return err
	}
	taken := o.BaseURL()
	port, served := o.served(ctx, env)
	if served {
		err = hubfile.RememberPort(ctx, root, port)
	} else {
		port, err = hubfile.ChoosePort(ctx, root, o.Port)
	}
	if err != nil {
		return portNotKept(err)
	}
	o.Address = opt.Address{Host: opt.DefaultHost, Port: port}
	env.Note(opt.OthersWords+". Your own hub is at %s from now on, and your programs find it there without a flag",
		taken, peertext.TerminalLine(other), o.BaseURL())
	return nil
}

func portNotKept(err error) *term.Failure {
	return &term.Failure{
		Exit: term.ExitRefused, Err: err, Sentence: "the data root cannot remember a port for your hub: " + err.Error(),
		Fix: "see to the folder, or name a free port with --port, and for programs that use the hub in HUB_BASE_URL",
	}
}

// recall mends a port in the data root that cannot be used: the hub that serves the store tells
// which one it was. Without such a hub the default port is tried first.
func (o *StartOptions) recall(ctx context.Context, env *term.Env) error {
	root, err := env.DataRoot()
	if err != nil {
		return err
	}
	_, unusable := hubfile.LookPort(root)
	if unusable == nil {
		return nil
	}
	port, served := o.served(ctx, env)
	if !served {
		env.Note("the port of your hub that the data root remembers cannot be used: %v; port %d is tried", unusable, o.Port)
		return nil
	}
	if err := hubfile.RememberPort(ctx, root, port); err != nil {
		return portNotKept(err)
	}
	env.Note("the port of your hub that the data root remembers could not be used: %v; it is %d again, where your hub is", unusable, port)
	o.Address = opt.Address{Host: opt.DefaultHost, Port: port}
	return nil
}

// served returns the port of the hub that serves this user's store, if it can be reached there at
// the usual address.
func (o *StartOptions) served(ctx context.Context, env *term.Env) (int, bool) {
	if o.Storage.Given || env.InspectStore == nil {
		return 0, false
	}
	info, err := env.InspectStore(o.Storage.Path)
	if err != nil || !info.Held {
		return 0, false
	}
	url, ok := info.Holder.ServesAt(ctx, o.Storage.Path)
	if !ok {
		return 0, false
	}
	at, ok := opt.PlainAddress(url)
	return at.Port, ok && at.Host == opt.DefaultHost
}
