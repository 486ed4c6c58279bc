package cli

import (
	"errors"
	"net"
	"net/url"
	"strconv"

	"github.com/spf13/pflag"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/integrations/hook"
)

// Two variables of the environment stand in for flags that are not given, in every
// command and as the bridge and the hooks have it: HUB_BASE_URL for --base-url, and
// for --host and --port of what starts and stops hubs; HUB_AGENT for --agent, and for
// --by. An agent that a hub spawned has both. An empty variable counts as not set.

// baseURL is --base-url.
type baseURL struct {
	url  string
	flag *pflag.Flag
}

func (b *baseURL) add(env *Env, f *pflag.FlagSet) {
	f.StringVar(&b.url, "base-url", client.DefaultBaseURL, "`address` of the hub, if not that in "+hook.EnvBaseURL)
	b.flag = f.Lookup("base-url")
	if named := env.Getenv(hook.EnvBaseURL); named != "" {
		b.url = named
	}
}

// check refuses an address that is none.
func (b *baseURL) check() error {
	err := client.CheckBaseURL(b.url)
	if err == nil || b.flag.Changed {
		return asUsage(err)
	}
	return badBaseURL(err)
}

// badBaseURL is the failure of a variable that is no address.
func badBaseURL(err error) error {
	why := err.Error()
	var h *hub.Error
	if errors.As(err, &h) {
		why = h.Message
	}
	return usage("set it to http://<host>:<port>, for example "+client.DefaultBaseURL+"; or unset it, or give the flag",
		"%s in the environment is no address of a hub: %s", hook.EnvBaseURL, why)
}

// client returns a client of the hub at the address.
func (b *baseURL) client() (*client.Client, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return client.New(client.Config{BaseURL: b.url}), nil
}

// agent is the flag of an agent id: --agent, or --by.
type agent struct {
	id   string
	flag *pflag.Flag
}

// addAs declares the flag under a name; usage says what it is for.
func (a *agent) addAs(env *Env, f *pflag.FlagSet, name, usage string) {
	f.StringVar(&a.id, name, "", usage)
	a.flag = f.Lookup(name)
	a.id = env.Getenv(hook.EnvAgent)
}

// add declares --agent of the commands that speak as an agent, which require it.
func (a *agent) add(env *Env, f *pflag.FlagSet) {
	a.addAs(env, f, "agent", "agent `id` to act as (required, unless "+hook.EnvAgent+" names it); displaces a live session of that id")
}

// field names where the id comes from.
func (a *agent) field() string {
	if a.flag.Changed {
		return "--" + a.flag.Name
	}
	return hook.EnvAgent
}

// check returns the id of an agent that must be named.
func (a *agent) check() (hub.AgentID, error) {
	if a.id == "" {
		return "", usage("name the agent, for example --agent reviewer", "--agent is missing")
	}
	return a.optional()
}

// optional returns the id of an agent that need not be named, or "" if none is.
func (a *agent) optional() (hub.AgentID, error) {
	id := hub.AgentID(a.id)
	if id == "" && !a.flag.Changed {
		return "", nil
	}
	if err := hub.CheckSender(a.field(), id); err != nil {
		return "", asUsage(err)
	}
	return id, nil
}

// replaces reports whether the command may displace a live session of the id:
// an id on the command line is meant to. HUB_AGENT comes down from a harness,
// whose own bridge is live under it.
func (a *agent) replaces() bool { return a.flag.Changed }

// addressFlags are --host and --port, which HUB_BASE_URL stands in for where neither
// is given.
type addressFlags struct {
	address
	named string // HUB_BASE_URL
	flags *pflag.FlagSet
}

func (a *addressFlags) add(env *Env, f *pflag.FlagSet, minPort int) {
	a.address.add(f, minPort)
	a.flags, a.named = f, env.Getenv(hook.EnvBaseURL)
}

// settle decides the address. If starts is true a hub is to listen there, which is
// possible on this machine only. A host name is replaced by its address, so that
// starting, finding and stopping a hub mean the same address.
func (a *addressFlags) settle(starts bool) error {
	if a.named == "" || a.flags.Changed("host") || a.flags.Changed("port") {
		return a.settleFlags(starts)
	}
	if err := client.CheckBaseURL(a.named); err != nil {
		return badBaseURL(err)
	}
	const fix = "name the hub's own address with --host and --port, or unset " + hook.EnvBaseURL
	at, ok := plainAddress(a.named)
	switch {
	case !ok:
		return usage(fix, "%s is %s, and a hub is started and stopped at a plain address only: http://<host>:<port>", hook.EnvBaseURL, a.named)
	case starts && !client.OnThisMachine(at.baseURL()):
		return usage(fix, "%s is %s, which is no address of this machine: no hub can be started there from here", hook.EnvBaseURL, a.named)
	}
	a.address = at
	return a.check()
}

// settleFlags is settle for --host and --port.
func (a *addressFlags) settleFlags(starts bool) error {
	if err := a.check(); err != nil {
		return err
	}
	if starts && a.isName() && !a.allowed() {
		return remoteRefused(a.host)
	}
	if err := a.resolve(); err != nil {
		return err
	}
	if starts && !client.OnThisMachine(a.baseURL()) {
		return usage("leave --host out, or name an address of this machine", "--host %s is no address of this machine", a.host)
	}
	return nil
}

// allowed reports whether --allow-remote is given.
func (a *addressFlags) allowed() bool {
	f := a.flags.Lookup("allow-remote")
	return f != nil && f.Value.String() == "true"
}

// remoteRefused is the failure of a host that other machines may reach.
func remoteRefused(host string) error {
	return usage("leave --host out, or add --allow-remote if other machines are to reach the hub",
		"--host %s is not an address of this machine alone", host)
}

// plainAddress returns host and port of a base address that a hub itself can have:
// no https, no path.
func plainAddress(base string) (address, bool) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Path != "" && u.Path != "/" {
		return address{}, false
	}
	a := address{host: u.Hostname(), port: 80}
	if p := u.Port(); p != "" {
		a.port, err = strconv.Atoi(p)
	}
	if a.host == "localhost" {
		a.host = defaultHost
	}
	return a, err == nil && a.port > 0 && a.port <= 65535
}

// startable returns where a hub can be started for a base address: on this
// machine's loopback, under a plain address.
func startable(base string) (address, bool) {
	a, ok := plainAddress(base)
	return a, ok && net.ParseIP(a.host).IsLoopback()
}
