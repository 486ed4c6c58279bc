package client

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// dialer makes connections to a hub. Where a hub of this user is noted for the address, a
// connection is used only after the other end has proved to be this hub: until then nothing
// but a challenge is sent. So a connection costs one more round trip; calls on it cost
// nothing more.
type dialer struct {
	root        string // the data root; empty: no notes can be read
	plain, near *net.Dialer
	// proved says that the last connection that came about was to a proved hub.
	proved atomic.Bool
	told   *hubfile.Note // the note that the caller has given, which counts more than that of the data root; nil: none

	mu    sync.Mutex
	known map[netip.AddrPort]hubfile.Note // of the addresses that have proved themselves
	spare net.Conn                        // made by meet, for the next call; nil: none
}

// Dialer returns the function that makes connections to host, for a transport of one's own.
// If host is an address of this machine, they come from loopback where the system allows
// that. A hub of this user, which is noted in the data root, has to prove itself first; the
// error is a *hub.Error with the code impostor otherwise. An empty dataRoot is that of the
// environment. connect bounds the connection without the proof; 0 is five seconds.
func Dialer(host, dataRoot string, connect time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := newDialer(host, rootOr(dataRoot))
	if connect > 0 {
		d.plain.Timeout = connect
	}
	return d.dial
}

// NeverSent reports whether the error of a request says that nothing of it was sent, because
// no connection came about.
func NeverSent(err error) bool {
	var op *net.OpError
	var unproved *unprovedError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &unproved)
}

// unprovedError says why a connection was given up before it was used.
type unprovedError struct{ err error }

func (e *unprovedError) Error() string { return e.err.Error() }
func (e *unprovedError) Unwrap() error { return e.err }

// rootOr is the data root that is given, or that of the environment; empty if there is none.
func rootOr(dataRoot string) string {
	if dataRoot == "" {
		dataRoot, _ = hubfile.DataRoot(os.Getenv, runtime.GOOS)
	}
	return dataRoot
}

func newDialer(host, root string) *dialer {
	d := &dialer{
		root: root, known: map[netip.AddrPort]hubfile.Note{},
		plain: &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive},
	}
	if fromLoopback(host) {
		source := net.IPv4(127, 0, 0, 1)
		if net.ParseIP(host).To4() == nil {
			source = net.IPv6loopback
		}
		d.near = &net.Dialer{Timeout: nearTimeout, KeepAlive: keepAlive, LocalAddr: &net.TCPAddr{IP: source}}
	}
	return d
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if conn := d.takeSpare(); conn != nil {
		return conn, nil
	}
	conn, _, err := d.open(ctx, network, addr)
	return conn, err
}

// open makes a connection and has the other end prove itself. says is nil if nobody had to.
func (d *dialer) open(ctx context.Context, network, addr string) (conn net.Conn, says *hub.Info, err error) {
	if conn, err = d.connect(ctx, network, d.numeric(addr)); err != nil {
		return nil, nil, err
	}
	if says, err = d.demand(ctx, conn); err != nil {
		_ = conn.Close() // nothing was sent on it
		return nil, nil, &unprovedError{err}
	}
	d.proved.Store(says != nil)
	return conn, says, nil
}

// meet makes the connection of the next call, and returns what the hub has said of itself when
// it proved itself; nil: it had to prove nothing.
func (d *dialer) meet(ctx context.Context, addr string) (*hub.Info, error) {
	conn, says, err := d.open(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	before := d.spare
	d.spare = conn
	d.mu.Unlock()
	if before != nil {
		_ = before.Close()
	}
	return says, nil
}

// takeSpare returns the connection that meet has made, once.
func (d *dialer) takeSpare() net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	conn := d.spare
	d.spare = nil
	return conn
}

// numeric returns the address of the hub of this user for which the name localhost stands. The
// name stands for two addresses, and at the other one any program may listen.
func (d *dialer) numeric(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !strings.EqualFold(host, "localhost") {
		return addr
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
		if err != nil {
			return addr
		}
		if _, err := d.note(at); !errors.Is(err, fs.ErrNotExist) {
			return at.String()
		}
	}
	return addr
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.near != nil {
		if conn, err := d.near.DialContext(ctx, network, addr); err == nil {
			return conn, nil
		}
	}
	return d.plain.DialContext(ctx, network, addr)
}

// demand has the other end of a new connection prove itself if a hub of this user is noted
// for its address; nil: none is, and nothing was sent.
func (d *dialer) demand(ctx context.Context, conn net.Conn) (*hub.Info, error) {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil, nil
	}
	at := tcp.AddrPort()
	note, err := d.note(at)
	if errors.Is(err, fs.ErrNotExist) || !onThisMachine(at.Addr()) {
		return nil, nil
	}
	if err != nil {
		return nil, noteUnusable(at, err)
	}
	c := challenge{nonce: hubfile.NewNonce(), at: at}
	says, err := c.put(ctx, conn)
	if err != nil {
		return nil, err
	}
	if !note.Proves(says.Proof, c.nonce, at) {
		// The hub at the address may be another one since the note was read.
		if note, err = d.note(at); err != nil || !note.Proves(says.Proof, c.nonce, at) {
			return nil, impostor(at)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[at] = note
	return &says, nil
}

// note returns the note of an address, or the last one that was proved: a program that has
// met its hub does not go back to believing the port because a file is gone.
func (d *dialer) note(at netip.AddrPort) (hubfile.Note, error) {
	if d.told != nil && d.told.Address == at {
		return *d.told, nil
	}
	note, err := hubfile.Note{}, fs.ErrNotExist
	if d.root != "" {
		note, err = hubfile.Find(d.root, at)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return note, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, ok := d.known[at]; ok {
		return last, nil
	}
	return note, err
}

// onThisMachine reports whether an address is loopback or that of an interface.
func onThisMachine(addr netip.Addr) bool {
	return addr.Unmap().IsLoopback() || isInterface(addr.Unmap().WithZone("").String())
}

// impostor is the error for a program that did not prove to be the hub.
func impostor(at netip.AddrPort) *hub.Error {
	return &hub.Error{
		Code: hub.CodeImpostor, Message: "another program has the hub's port " + shown(at),
		Answered: true, // a model gets the fix of the code
		Fix: "see which program it is with: " + listeners(int(at.Port())) +
			"; end it and start the hub with hubcli ensure, or give the hub another port with --port (a hub of an earlier version cannot prove itself: end it, too)",
	}
}

func noteUnusable(at netip.AddrPort, err error) *hub.Error {
	return &hub.Error{
		Code: hub.CodeImpostor, Message: "it cannot be told whether the program at " + shown(at) + " is the hub: " + err.Error(),
		Fix: "delete that file, end the hub and start it again with hubcli ensure: it writes the file anew",
	}
}

func shown(at netip.AddrPort) string {
	return net.JoinHostPort(at.Addr().Unmap().String(), strconv.Itoa(int(at.Port())))
}

// listeners is the command that shows which program listens on a port.
func listeners(port int) string {
	p := strconv.Itoa(port)
	switch runtime.GOOS {
	case "windows":
		return "netstat -ano | findstr :" + p
	case "linux":
		return "ss -ltnp sport = :" + p
	}
	return "lsof -nP -iTCP:" + p + " -sTCP:LISTEN"
}

// proofTimeout bounds the answer to a challenge. A hub that starts is not served yet.
const proofTimeout = DefaultTimeout

var errUnready = errors.New("it is starting or stopping")

// deadline is when the answer has to be there.
func deadline(ctx context.Context) time.Time {
	at := time.Now().Add(proofTimeout)
	if end, ok := ctx.Deadline(); ok && end.Before(at) {
		return end
	}
	return at
}
