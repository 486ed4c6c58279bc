package opt

import (
	"errors"
	"net"
	"net/url"
	"strconv"

	"github.com/spf13/pflag"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/hubfile"
)

// Two variables of the environment replace flags that are not given, in every command, the bridge and the hooks. HUB_BASE_URL replaces --base-url, and --host and --port of commands that start and stop hubs. HUB_AGENT replaces --agent and --by. An agent that a hub spawned has both. An empty variable counts as not set.

// BaseURL is --base-url.
type BaseURL struct {
	URL       string
	Flag      *pflag.Flag
	Inherited bool   // HUB_BASE_URL is set; the flag counts more
	own       bool   // the data root remembers a port of this user's hub
	unusable  error  // why it could not be read
	Root      string // the data root; empty: that of the process
}

// Add declares the flags.
func (b *BaseURL) Add(env *term.Env, f *pflag.FlagSet) {
	f.StringVar(&b.URL, "base-url", client.DefaultBaseURL, "`address` of the hub, if not that in "+hook.EnvBaseURL)
	b.Flag = f.Lookup("base-url")
	b.Root, _ = env.DataRoot() // without one no hub is known
	if named := env.Getenv(hook.EnvBaseURL); named != "" {
		b.URL, b.Inherited = named, true
		return
	}
	port, unusable := env.OwnPort()
	b.unusable = unusable
	if port != term.DefaultPort {
		b.URL, b.own = Address{Host: DefaultHost, Port: port}.BaseURL(), true
	}
}

// Unnamed reports whether neither a flag nor the environment names the address.
func (b *BaseURL) Unnamed() bool { return !b.Flag.Changed && !b.Inherited }

// Check refuses a malformed address.
func (b *BaseURL) Check() error {
	err := client.CheckBaseURL(b.URL)
	if err == nil || b.Flag.Changed {
		return AsUsage(err)
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
	return term.Usage("set it to http://<host>:<port>, for example "+client.DefaultBaseURL+"; or unset it, or give the flag",
		"%s in the environment is no address of a hub: %s", hook.EnvBaseURL, why)
}

// Source says where the address comes from.
func (b *BaseURL) Source() string {
	switch {
	case b.Flag.Changed:
		return "--" + b.Flag.Name
	case b.Inherited:
		return hook.EnvBaseURL
	case b.own:
		return "the port in the data root"
	case b.unusable != nil:
		return "the default, because the port in the data root cannot be used: " + b.unusable.Error()
	}
	return "the default"
}

// Client returns a client of the hub at the address.
func (b *BaseURL) Client() (*client.Client, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	return client.New(client.Config{BaseURL: b.URL, DataRoot: b.Root}), nil
}

// Agent is the flag of an agent id: --agent, or --by.
type Agent struct {
	ID   string
	Flag *pflag.Flag
}

// AddAs declares the flag under a name.
func (a *Agent) AddAs(env *term.Env, f *pflag.FlagSet, name, usage string) {
	f.StringVar(&a.ID, name, "", usage)
	a.Flag = f.Lookup(name)
	a.ID = env.Getenv(hook.EnvAgent)
}

// Add declares --agent for a command that requires it.
func (a *Agent) Add(env *term.Env, f *pflag.FlagSet) {
	a.AddAs(env, f, "agent", "agent `id` to act as (required, unless "+hook.EnvAgent+" names it); displaces a live session of that id")
}

// Field names the flag or the variable that the id comes from.
func (a *Agent) Field() string {
	if a.Flag.Changed {
		return "--" + a.Flag.Name
	}
	return hook.EnvAgent
}

// Check returns the id, which is required.
func (a *Agent) Check() (hub.AgentID, error) {
	if a.ID == "" {
		return "", term.Usage("name the agent, for example --agent reviewer", "--agent is missing")
	}
	return a.Optional()
}

// Optional returns the id, or "" if none is given.
func (a *Agent) Optional() (hub.AgentID, error) {
	id := hub.AgentID(a.ID)
	if id == "" && !a.Flag.Changed {
		return "", nil
	}
	if err := hub.CheckSender(a.Field(), id); err != nil {
		return "", AsUsage(err)
	}
	return id, nil
}

// Replaces reports whether the command may displace a live session of the id.
// An id on the command line may. HUB_AGENT comes from a harness whose own
// bridge is live under that id, so it may not.
func (a *Agent) Replaces() bool { return a.Flag.Changed }

// AddressFlags are --host and --port. HUB_BASE_URL replaces them if neither is
// given. Without it the port is the one that the data root remembers.
type AddressFlags struct {
	Address
	Named   string // HUB_BASE_URL
	Flags   *pflag.FlagSet
	Unnamed bool // neither a flag nor the environment names the address, as settle has found
}

// Add declares the flags.
func (a *AddressFlags) Add(env *term.Env, f *pflag.FlagSet, minPort int) {
	a.Address.add(f, minPort)
	a.Flags, a.Named = f, env.Getenv(hook.EnvBaseURL)
	a.Port, _ = env.OwnPort() // ensure and the doctor say what is wrong with it
}

// given reports whether --host or --port is.
func (a *AddressFlags) given() bool { return a.Flags.Changed("host") || a.Flags.Changed("port") }

// Settle decides the address. If starts is true, a hub will listen there, which
// is possible only on this machine. A host name is replaced by its address, so
// that starting, finding and stopping a hub mean the same address.
func (a *AddressFlags) Settle(starts bool) error {
	a.Unnamed = a.Named == "" && !a.given()
	if a.Named == "" || a.given() {
		return a.settleFlags(starts)
	}
	if err := client.CheckBaseURL(a.Named); err != nil {
		return badBaseURL(err)
	}
	const fix = "name the hub's own address with --host and --port, or unset " + hook.EnvBaseURL
	at, ok := PlainAddress(a.Named)
	switch {
	case !ok:
		return term.Usage(fix, "%s is %s, and a hub is started and stopped at a plain address only: http://<host>:<port>", hook.EnvBaseURL, a.Named)
	case starts && !client.OnThisMachine(at.BaseURL()):
		return term.Usage(fix, "%s is %s, which is no address of this machine: no hub can be started there from here", hook.EnvBaseURL, a.Named)
	}
	a.Address = at
	return a.check()
}

// settleFlags is settle for --host and --port.
func (a *AddressFlags) settleFlags(starts bool) error {
	if err := a.check(); err != nil {
		return err
	}
	if starts && a.isName() && !a.allowed() {
		return RemoteRefused(a.Host)
	}
	if err := a.resolve(); err != nil {
		return err
	}
	if starts && !client.OnThisMachine(a.BaseURL()) {
		return term.Usage("leave --host out, or name an address of this machine", "--host %s is no address of this machine", a.Host)
	}
	return nil
}

// allowed reports whether --allow-remote is given.
func (a *AddressFlags) allowed() bool {
	f := a.Flags.Lookup("allow-remote")
	return f != nil && f.Value.String() == "true"
}

// RemoteRefused is the failure of a host that other machines may reach.
func RemoteRefused(host string) error {
	return term.Usage("leave --host out, or add --allow-remote if other machines should reach the hub",
		"--host %s is not an address of this machine alone", host)
}

// PlainAddress returns host and port of a base address on which a hub can
// listen: no https, no path.
func PlainAddress(base string) (Address, bool) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Path != "" && u.Path != "/" {
		return Address{}, false
	}
	a := Address{Host: u.Hostname(), Port: 80}
	if p := u.Port(); p != "" {
		a.Port, err = strconv.Atoi(p)
	}
	if a.Host == "localhost" {
		a.Host = DefaultHost
	}
	return a, err == nil && a.Port > 0 && a.Port <= 65535
}

// Startable returns where a hub can be started for a base address: on this
// machine's loopback, under a plain address.
func Startable(base string) (Address, bool) {
	a, ok := PlainAddress(base)
	return a, ok && net.ParseIP(a.Host).IsLoopback()
}

// OwnPath is the PATH of the command: the hub may have been started with another one.
func OwnPath(env *term.Env) string { return api.SearchPath(env.Getenv("PATH")) }

// NeedsSecret reports whether a call failed because the operator's secret is not here.
func NeedsSecret(err error) bool { return errors.Is(err, &hub.Error{Code: hub.CodeOperatorRequired}) }

// NoteUnproved tells a person that what answered on this machine may be anything.
func NoteUnproved(env *term.Env, c *client.Client) {
	if !c.Proved() && client.OnThisMachine(c.BaseURL()) {
		env.Note("this hub is not known to be yours: no hub of your data root has served at %s", c.BaseURL())
	}
}

// Elsewhere returns the flag that a suggested command needs if the hub is not
// at the default address.
func (b *BaseURL) Elsewhere() string {
	if b.URL == hubfile.BaseURL(b.Root) {
		return ""
	}
	return " --base-url " + b.URL
}
