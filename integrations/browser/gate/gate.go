package gate

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
)

const (
	dialWait    = 10 * time.Second // to resolve a name and to connect
	headerWait  = 30 * time.Second // for the beginning of an answer
	idleWait    = 90 * time.Second // an unused connection is kept
	maxConns    = 128              // of a room at a time
	maxHeader   = 256 << 10        // of a request or an answer
	maxRefusals = 16               // that are remembered of a room
)

// Options say how the gate reaches the network. Zero fields mean the system's way.
type Options struct {
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Own returns the addresses of this machine. A public address of it is refused like
	// loopback: its services are not for pages either.
	Own func() []netip.Addr
	// HubPort is the port of the hub, which no page reaches on this machine.
	HubPort uint16
}

func (o *Options) settle() {
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		var d net.Dialer
		o.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", to.String())
		}
	}
	if o.Own == nil {
		o.Own = ownAddresses
	}
}

func ownAddresses() (own []netip.Addr) {
	all, _ := net.InterfaceAddrs() // what the system does not say is not known
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}

// Gate is a proxy that runs.
type Gate struct {
	options  Options
	listener net.Listener
	server   *http.Server
	served   chan struct{}

	mu     sync.Mutex
	passes map[string]*Pass // by name
}

// Open starts a gate on a free port of loopback.
func Open(o Options) (*Gate, error) {
	o.settle()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{options: o, listener: l, served: make(chan struct{}), passes: map[string]*Pass{}}
	g.server = &http.Server{
		Handler: g, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), // what a page makes of a request is no news
	}
	go func() {
		defer close(g.served)
		_ = g.server.Serve(l) // it ends with Close
	}()
	return g, nil
}

// Address is where the engine finds the gate.
func (g *Gate) Address() string { return g.listener.Addr().String() }

// Close ends the gate and everything that passes through.
func (g *Gate) Close() {
	_ = g.server.Close()
	<-g.served
	g.mu.Lock()
	passes := g.passes
	g.passes = nil
	g.mu.Unlock()
	for _, p := range passes {
		p.end()
	}
}

// Pass is what one room may reach, and the name and the secret by which the gate knows it.
type Pass struct {
	Name, Secret string

	gate      *Gate
	transport *http.Transport
	ctx       context.Context // ends with the pass
	cancel    context.CancelFunc

	mu       sync.Mutex
	hosts    []hub.AllowedHost
	conns    int
	refusals []string
}

// Issue makes a pass. It is valid until Revoke.
func (g *Gate) Issue() *Pass {
	p := &Pass{Name: rand.Text(), Secret: rand.Text(), gate: g}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			to, err := parseTarget(addr, 0)
			if err != nil {
				return nil, err
			}
			return p.dial(ctx, to)
		},
		DisableCompression: true, ResponseHeaderTimeout: headerWait, IdleConnTimeout: idleWait,
		MaxIdleConnsPerHost: 6, MaxResponseHeaderBytes: maxHeader,
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passes == nil {
		p.end()
		return p
	}
	g.passes[p.Name] = p
	return p
}

// Revoke ends a pass and everything that passes through by it.
func (g *Gate) Revoke(p *Pass) {
	g.mu.Lock()
	delete(g.passes, p.Name)
	g.mu.Unlock()
	p.end()
}

func (p *Pass) end() {
	p.cancel()
	p.transport.CloseIdleConnections()
}

// Allow replaces the hosts that the operator allows. Connections that rest are closed, so
// that none is used which would be refused now.
func (p *Pass) Allow(hosts []hub.AllowedHost) {
	p.mu.Lock()
	changed := !equal(p.hosts, hosts)
	p.hosts = hosts
	p.mu.Unlock()
	if changed {
		p.transport.CloseIdleConnections()
	}
}

func equal(a, b []hub.AllowedHost) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Refusals returns what was refused since the last call: host and port with the reason.
func (p *Pass) Refusals() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := p.refusals
	p.refusals = nil
	return refused
}

func (p *Pass) refuse(to target, why string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := to.String() + " " + why
	if len(p.refusals) < maxRefusals {
		p.refusals = append(p.refusals, text)
	}
	return errors.New("gate: refused: " + text)
}

// known returns the pass of a request; nil: it has none.
func (g *Gate) known(r *http.Request) *Pass {
	_, encoded, ok := strings.Cut(r.Header.Get("Proxy-Authorization"), "Basic ")
	if !ok {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	name, secret, _ := strings.Cut(string(text), ":")
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.passes[name]
	if p == nil || subtle.ConstantTimeCompare([]byte(p.Secret), []byte(secret)) != 1 {
		return nil
	}
	return p
}
