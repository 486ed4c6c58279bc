package gate

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// dial connects a room with a target, if it may reach it.
func (p *Pass) dial(ctx context.Context, to target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	addrs, err := p.addresses(ctx, to)
	if err != nil {
		return nil, err
	}
	if !p.enter() {
		return nil, p.refuse(to, "is one connection too many for the page")
	}
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = p.gate.options.Dial(ctx, netip.AddrPortFrom(a, to.port)); err == nil {
			return &counted{Conn: conn, pass: p, stop: context.AfterFunc(p.ctx, func() { _ = conn.Close() })}, nil
		}
	}
	p.leave()
	return nil, err
}

// addresses returns where a target is. Every address was looked at, and one that is
// refused spoils all.
func (p *Pass) addresses(ctx context.Context, to target) ([]netip.Addr, error) {
	p.mu.Lock()
	hosts := p.hosts
	p.mu.Unlock()
	allowed := to.allowed(hosts)
	literal, addrs, err := p.resolve(ctx, to)
	if err != nil {
		return nil, err
	}
	for i, a := range addrs {
		a = a.Unmap()
		addrs[i] = a
		switch own := slices.Contains(p.gate.options.Own(), a); {
		case to.port == p.gate.options.HubPort && (own || a.IsLoopback() || a.IsUnspecified()):
			return nil, p.refuse(to, "is the hub itself")
		case allowed && (literal || !neverByName(a)):
		case allowed:
			return nil, p.refuse(to, "is allowed by name, and the name means "+a.String()+", which no page may reach")
		case !Public(a) || own:
			return nil, p.refuse(to, "is no public address")
		}
	}
	return addrs, nil
}

// resolve returns the addresses of a target; literal says that it is one.
func (p *Pass) resolve(ctx context.Context, to target) (literal bool, addrs []netip.Addr, err error) {
	if a, err := netip.ParseAddr(to.host); err == nil {
		return true, []netip.Addr{a}, nil
	}
	if loopbackName(to.host) {
		return false, loopbacks(), nil
	}
	addrs, err = p.gate.options.Resolve(ctx, to.host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("gate: the name has no address")
	}
	return false, slices.Clone(addrs), err
}

func (p *Pass) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns >= maxConns {
		return false
	}
	p.conns++
	return true
}

func (p *Pass) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns--
}

// counted is a connection that gives its place back and ends with its pass.
type counted struct {
	net.Conn
	pass *Pass
	stop func() bool
	once sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() {
		c.stop()
		c.pass.leave()
	})
	return c.Conn.Close()
}
