package peeruser

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func open(t testing.TB) *Looker {
	t.Helper()
	l, err := Open()
	if err != nil {
		t.Fatalf("this system does not tell whose a connection is: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// connect returns both ends of a connection.
func connect(t testing.TB, listener net.Listener, to string) (dialed, accepted net.Conn) {
	t.Helper()
	dialed, err := net.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialed.Close() }) // a test may have closed it
	if accepted, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() })
	return dialed, accepted
}

func listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("needs a machine that listens on %s: %v", address, err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// portOf returns the address of a listener's port on another host.
func portOf(l net.Listener, host string) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

func TestOwnConnections(t *testing.T) {
	l := open(t)
	for name, c := range map[string]struct{ network, listens, dials string }{
		"IPv4":                          {"tcp4", "127.0.0.1:0", "127.0.0.1"},
		"another address of loopback":   {"tcp4", "0.0.0.0:0", "127.0.0.2"},
		"IPv6":                          {"tcp6", "[::1]:0", "::1"},
		"IPv4 to a listener of both":    {"tcp", "[::]:0", "127.0.0.1"},
		"a mapped address":              {"tcp", "[::]:0", "::ffff:127.0.0.1"},
		"IPv6 to a listener of both":    {"tcp", "[::]:0", "::1"},
		"a listener of a named address": {"tcp", "localhost:0", "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "darwin" && c.dials == "127.0.0.2" {
				t.Skip("needs another system than macOS, which has one address of loopback")
			}
			listener := listen(t, c.network, c.listens)
			_, accepted := connect(t, listener, portOf(listener, c.dials))
			if got, err := l.Of(accepted); err != nil || got != l.Own() {
				t.Errorf("the peer is of user %q, %v; want %q", got, err, l.Own())
			}
		})
	}
}

// A socket that no program has is told of as the superuser's. A program
// that leaves early enough would be root.
func TestPeerThatHasLeft(t *testing.T) {
	l := open(t)
	listener := listen(t, "tcp4", "127.0.0.1:0")
	leave := map[string]func(*testing.T, *net.TCPConn){
		"closed": func(t *testing.T, c *net.TCPConn) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"reset": func(t *testing.T, c *net.TCPConn) {
			if err := errors.Join(c.SetLinger(0), c.Close()); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, end := range leave {
		t.Run(name, func(t *testing.T) {
			dialed, accepted := connect(t, listener, listener.Addr().String())
			end(t, dialed.(*net.TCPConn))
			if got, err := l.Of(accepted); !errors.Is(err, ErrGone) {
				t.Errorf("a peer that has left is of user %q, %v", got, err)
			}
		})
	}
	t.Run("sends nothing more", func(t *testing.T) {
		dialed, accepted := connect(t, listener, listener.Addr().String())
		if err := dialed.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(accepted); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Of(accepted); err != nil || got != l.Own() {
			t.Errorf("a peer that still reads is of user %q, %v", got, err)
		}
	})
}

// The end of a connection that was reset is free at once. Another program may have it when the
// hub looks.
func TestEndThatAnotherProgramHas(t *testing.T) {
	l := open(t)
	listener := listen(t, "tcp4", "127.0.0.1:0")
	first, accepted := connect(t, listener, listener.Addr().String())
	from := first.LocalAddr()
	if err := errors.Join(first.(*net.TCPConn).SetLinger(0), first.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := (&net.Dialer{LocalAddr: from}).Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Skipf("needs a system that gives the end away at once: %v", err)
	}
	defer func() { _ = second.Close() }()
	later, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = later.Close() }()
	if got, err := l.Of(later); err != nil || got != l.Own() {
		t.Fatalf("the later connection is of user %q, %v", got, err)
	}
	if got, err := l.Of(accepted); !errors.Is(err, ErrGone) {
		t.Errorf("the earlier connection is of user %q, %v", got, err)
	}
}

func TestNames(t *testing.T) {
	l := open(t)
	own, ok := Find(l.Own().Name())
	if !ok || own != l.Own() {
		t.Errorf("the account %q has the number %q, want %q", l.Own().Name(), own, l.Own())
	}
	if got, ok := Find(string(l.Own())); !ok || got != l.Own() {
		t.Errorf("the number %q is that of %q", l.Own(), got)
	}
	for _, bad := range []string{"", "no such account", "-1", "007", "1e3", "4294967296", "../../etc/passwd", "S-1-"} {
		if got, ok := Find(bad); ok {
			t.Errorf("%q is the account %q", bad, got)
		}
	}
	if os.Geteuid() == 0 && !l.Own().Superuser() {
		t.Error("root is not the superuser")
	}
}

// TestLookIsShort: a look takes 30 µs at most, however many sockets are open. Half of the looks
// may be longer, because other programs have the processors too.
func TestLookIsShort(t *testing.T) {
	const most, looks = 30 * time.Microsecond, 201
	l := open(t)
	if runtime.GOOS != "linux" || l.How() != ways[0].name {
		t.Skip("needs Linux with sock_diag: other systems are not measured")
	}
	listener := listen(t, "tcp4", "127.0.0.1:0")
	for range 500 {
		connect(t, listener, listener.Addr().String())
	}
	_, accepted := connect(t, listener, listener.Addr().String())
	took := make([]time.Duration, looks)
	for i := range took {
		began := time.Now()
		if _, err := l.Of(accepted); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	if median := took[looks/2]; median > most {
		t.Errorf("half of the looks took longer than %s, want %s", median, most)
	}
}

// BenchmarkOf is what a connection costs, by how many other sockets are open. The
// promise is that of the first way of Linux.
func BenchmarkOf(b *testing.B) {
	for _, others := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			listener := listen(b, "tcp4", "127.0.0.1:0")
			for range others / 2 {
				connect(b, listener, listener.Addr().String())
			}
			_, accepted := connect(b, listener, listener.Addr().String())
			for _, way := range ways {
				of, end, err := way.open()
				if err != nil {
					b.Logf("%s: %v", way.name, err)
					continue
				}
				l := &Looker{how: way.name, of: of, end: end}
				b.Run("way="+strings.ReplaceAll(way.name, "/", "_"), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := l.Of(accepted); err != nil {
							b.Fatal(err)
						}
					}
				})
				if err := l.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
