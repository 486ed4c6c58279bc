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

// Two variables of the environment replace flags that are not given, in every command, the bridge and the hooks. HUB_BASE_URL replaces --base-url, and --host and --port of commands that start and stop hubs. HUB_AGENT replaces --agent and --by. An agent that a hub spawned has both. An empty variable counts as not set.

// baseURL is --base-url.
type baseURL struct {
	url       string
	flag      *pflag.Flag
	inherited bool   // HUB_BASE_URL is set; the flag counts more
	own       bool   // the data root remembers a port of this user's hub
	unusable  error  // why it could not be read
	root      string // the data root; empty: that of the process
}

func (b *baseURL) add(env *Env, f *pflag.FlagSet) {
	f.StringVar(&b.url, "base-url", client.DefaultBaseURL, "`address` of the hub, if not that in "+hook.EnvBaseURL)
	b.flag = f.Lookup("base-url")
	b.root, _ = env.dataRoot() // without one no hub is known
	if named := env.Getenv(hook.EnvBaseURL); named != "" {
		b.url, b.inherited = named, true
		return
	}
	port, unusable := env.ownPort()
	b.unusable = unusable
	if port != defaultPort {
		b.url, b.own = address{host: defaultHost, port: port}.baseURL(), true
	}
}

// unnamed reports whether neither a flag nor the environment names the address.
func (b *baseURL) unnamed() bool { return !b.flag.Changed && !b.inherited }

// check refuses a malformed address.
func (b *baseURL) check() error {
	err := client.CheckBaseURL(b.url)
	if err == nil || b.flag.Changed {
		return asUsage(err)
	}
	return badBaseURL(err)
}

// badBaseURL is the failure for a malformed address in a variable.
func badBaseURL(err error) error {
	why := err.Error()
	var h *hub.Error
	if errors.As(err, &h) {
		why = h.Message
	}
	return usage("set it to http://<host>:<port>, for example "+client.DefaultBaseURL+"; or unset it, or give the flag",
		"%s in the environment is no address of a hub: %s", hook.EnvBaseURL, why)
}

// source says where the address comes from.
func (b *baseURL) source() string {
	switch {
	case b.flag.Changed:
		return "--" + b.flag.Name
	case b.inherited:
		return hook.EnvBaseURL
	case b.own:
		return "the port in the data root"
	case b.unusable != nil:
		return "the default, because the port in the data root cannot be used: " + b.unusable.Error()
	}
	return "the default"
}

// client returns a client of the hub at the address.
func (b *baseURL) client() (*client.Client, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return client.New(client.Config{BaseURL: b.url, DataRoot: b.root}), nil
}

// agent is the flag of an agent id: --agent, or --by.
type agent struct {
	id   string
	flag *pflag.Flag
}

// addAs declares the flag under a name.
func (a *agent) addAs(env *Env, f *pflag.FlagSet, name, usage string) {
	f.StringVar(&a.id, name, "", usage)
	a.flag = f.Lookup(name)
	a.id = env.Getenv(hook.EnvAgent)
}

// add declares --agent for a command that requires it.
func (a *agent) add(env *Env, f *pflag.FlagSet) {
	a.addAs(env, f, "agent", "agent `id` to act as (required, unless "+hook.EnvAgent+" names it); displaces a live session of that id")
}

// field names the flag or the variable that the id comes from.
func (a *agent) field() string {
	if a.flag.Changed {
		return "--" + a.flag.Name
	}
	return hook.EnvAgent
}

// check returns the id, which is required.
func (a *agent) check() (hub.AgentID, error) {
	if a.id == "" {
		return "", usage("name the agent, for example --agent reviewer", "--agent is missing")
	}
	return a.optional()
}

// optional returns the id, or "" if none is given.
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

// replaces reports whether the command may displace a live session of the id.
// An id on the command line may. HUB_AGENT comes from a harness whose own
// bridge is live under that id, so it may not.
func (a *agent) replaces() bool { return a.flag.Changed }

// addressFlags are --host and --port. HUB_BASE_URL replaces them if neither is
// given. Without it the port is the one that the data root remembers.
type addressFlags struct {
	address
	named   string // HUB_BASE_URL
	flags   *pflag.FlagSet
	unnamed bool // neither a flag nor the environment names the address, as settle has found
}

func (a *addressFlags) add(env *Env, f *pflag.FlagSet, minPort int) {
	a.address.add(f, minPort)
	a.flags, a.named = f, env.Getenv(hook.EnvBaseURL)
	a.port, _ = env.ownPort() // ensure and the doctor say what is wrong with it
}

// given reports whether --host or --port is.
func (a *addressFlags) given() bool { return a.flags.Changed("host") || a.flags.Changed("port") }

// settle decides the address. If starts is true, a hub will listen there, which
// is possible only on this machine. A host name is replaced by its address, so
// that starting, finding and stopping a hub mean the same address.
func (a *addressFlags) settle(starts bool) error {
	a.unnamed = a.named == "" && !a.given()
	if a.named == "" || a.given() {
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
	return usage("leave --host out, or add --allow-remote if other machines should reach the hub",
		"--host %s is not an address of this machine alone", host)
}

// plainAddress returns host and port of a base address on which a hub can
// listen: no https, no path.
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
