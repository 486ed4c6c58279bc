package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"hubcli/hub"
)

// Authenticator proves sessions and passes.
type Authenticator interface {
	// Authenticate returns the owner of the session with this full id. A
	// session that went idle becomes live again. Errors: session_invalid if
	// there is no such session, session_replaced if the agent has a later one.
	Authenticate(ctx context.Context, full hub.SessionID) (hub.Caller, error)
	// ProvePass returns the pass whose secret this is. Errors: operator_required if it is
	// none, or the pass is over.
	ProvePass(token string) (hub.PassID, error)
	// UserAllowed reports whether the operator has let in the other user of the machine with
	// this ID.
	UserAllowed(id string) bool
	// PassToken returns the secret of a pass, of which the keys of signed calls are made. It
	// does not tell whether there is the pass.
	PassToken(id hub.PassID) string
	// PassHolds returns an error unless the pass is in force: operator_required.
	PassHolds(id hub.PassID) error
}

// Presence records signs of life of agents. The server calls Touch for every
// call that names an agent and that the edge does not refuse; Touch must not
// wait. poll says that the call waits for messages or asks for news, which does
// not count as work.
type Presence interface {
	Touch(agent hub.AgentID, poll bool)
}

// Config is what a Server is made of. The services, Sessions, OperatorToken and
// InstanceID are required; the rest has defaults.
type Config struct {
	Service  hub.Service        // the agent plane
	Status   hub.Status         // hub-info, app/status, readiness
	Control  hub.Control        // shutdown
	Adapters hub.Adapters       // of harnesses; nil: there are none
	Browsers hub.Browsers       // engines of the machine; nil: none is looked for
	Follows  hub.Follows        // for the operator; nil: nobody can follow the hub
	Capsules hub.Capsules       // of projects; nil: the hub exports nothing
	Imports  hub.CapsuleImports // nil: the hub imports nothing
	Answers  hub.Answers        // of writes outside of the journal; nil: none is kept
	Sessions Authenticator      // proves X-Hub-Session, and passes
	Licenses hub.Licenses       // of this machine; nil: it has none
	Peers    Peers              // whose a connection over loopback is; nil: all on this machine are believed
	Presence Presence           // nil: signs of life are not recorded
	MCP      http.Handler       // serves api.MCPPath to the hub's own user on this machine; nil: there is no such path

	OperatorToken string         // secret that X-Hub-Operator must equal
	InstanceID    hub.InstanceID // of the store; sent with every answer
	ProofKey      []byte         // with which the hub proves itself: see hubfile.Proof; empty: it cannot
	AllowRemote   bool           // accept the addresses of this machine's interfaces as Host
	Limits        hub.Limits     // zero: hub.DefaultLimits

	Logger *slog.Logger // nil: nothing is logged
	// LocalAddrs returns the addresses of this machine's interfaces. It is
	// called only with AllowRemote. nil: ask the operating system.
	LocalAddrs func() []netip.Addr

	MaxConnections    int           // one more waits until another ends or, if one carries no request, takes its place; 0: hub.MaxConnections
	MaxBodiesInFlight int64         // bytes of all bodies being read; 0: 256 MiB
	MaxHeaderBytes    int           // of one request; 0: 16 KiB
	ReadHeaderTimeout time.Duration // 0: 5 s
	ReadTimeout       time.Duration // header and body; 0: 30 s
	WriteTimeout      time.Duration // one answer, after any wait; 0: 30 s
	IdleTimeout       time.Duration // between two requests; 0: 120 s
	StopTimeout       time.Duration // for answers under way when Serve ends; 0: 10 s
	Heartbeat         time.Duration // of a stream; 0: sseHeartbeat
}

func orDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// EnsureDefaults sets zero fields to their defaults.
func (c *Config) EnsureDefaults() {
	orDefault(&c.Limits, hub.DefaultLimits())
	orDefault(&c.MaxConnections, hub.MaxConnections)
	orDefault(&c.MaxBodiesInFlight, 256<<20)
	orDefault(&c.MaxHeaderBytes, 16<<10)
	orDefault(&c.ReadHeaderTimeout, 5*time.Second)
	orDefault(&c.ReadTimeout, 30*time.Second)
	orDefault(&c.WriteTimeout, 30*time.Second)
	orDefault(&c.IdleTimeout, 120*time.Second)
	orDefault(&c.StopTimeout, 10*time.Second)
	orDefault(&c.Heartbeat, sseHeartbeat)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Presence == nil {
		c.Presence = absent{}
	}
	if c.Peers == nil {
		c.Peers = noPeers{}
	}
	if c.Browsers == nil {
		c.Browsers = noBrowsers{}
	}
	if c.Adapters == nil {
		c.Adapters = noAdapters{}
	}
	if c.Follows == nil {
		c.Follows = noFollows{}
	}
	if c.Capsules == nil {
		c.Capsules = noCapsules{}
	}
	if c.Imports == nil {
		c.Imports = noCapsules{}
	}
	if c.Licenses == nil {
		c.Licenses = noLicenses{}
	}
	if c.LocalAddrs == nil {
		c.LocalAddrs = interfaceAddrs
	}
}

// Validate returns an error if a field is missing or out of range.
func (c *Config) Validate() error {
	switch {
	case c.Service == nil || c.Status == nil || c.Control == nil || c.Sessions == nil:
		return errors.New("httpapi: a service is missing")
	case c.OperatorToken == "":
		return errors.New("httpapi: the operator token is missing")
	case c.InstanceID == "":
		return errors.New("httpapi: the instance id is missing")
	case c.Limits.MaxBodyChars < 1 || c.Limits.MaxAttachmentChars < 1 || c.Limits.MaxAttachments < 0:
		return errors.New("httpapi: a message limit is out of range")
	case c.MaxConnections < 1 || c.MaxBodiesInFlight < 1 || c.MaxHeaderBytes < 1:
		return errors.New("httpapi: a limit of the server is out of range")
	case min(c.ReadHeaderTimeout, c.ReadTimeout, c.WriteTimeout, c.IdleTimeout, c.StopTimeout, c.Heartbeat) <= 0:
		return errors.New("httpapi: a timeout of the server is out of range")
	}
	return nil
}

type absent struct{}

func (absent) Touch(hub.AgentID, bool) {}

// interfaceAddrs returns the addresses of this machine's interfaces, or none if
// they cannot be read.
func interfaceAddrs() []netip.Addr {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	addrs := make([]netip.Addr, 0, len(list))
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			addrs = append(addrs, p.Addr().Unmap())
		}
	}
	return addrs
}

// noFollows serves a hub that nobody can follow.
type noFollows struct{}

func (noFollows) Follow(context.Context, *hub.FollowPlace) (hub.Follow, error) {
	return nil, hub.NewError(hub.CodeNotFound, "this hub cannot be followed")
}
