package gate

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hubcli/hub"
	"hubcli/internal/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublic(t *testing.T) {
	for _, a := range []string{"8.8.8.8", "93.184.216.34", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "2606:4700::1", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not public", a)
		}
	}
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "168.63.129.16", "::ffff:168.63.129.16",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1", "5f00::1",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// rig is a gate whose names mean what the test says. It dials loopback for every address.
type rig struct {
	*Gate
	t      *testing.T
	dialed []string
	means  map[string][]string
}

func newRig(t *testing.T, server string) *rig {
	t.Helper()
	r := &rig{t: t, means: map[string][]string{}}
	g, err := Open(Options{
		HubPort: 6969,
		Own:     func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("93.184.216.99")} },
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			var all []netip.Addr
			for _, a := range r.means[host] {
				all = append(all, netip.MustParseAddr(a))
			}
			return all, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			r.dialed = append(r.dialed, to.String())
			if server == "" {
				return nil, errors.New("nobody listens")
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", server)
		},
	})
	require.NoError(t, err)
	r.Gate = g
	t.Cleanup(g.Close)
	return r
}

// TestDialDecides by the addresses that a name has, and by what the operator allows.
func TestDialDecides(t *testing.T) {
	r := newRig(t, "")
	r.means = map[string][]string{
		"public.test": {"93.184.216.34"}, "private.test": {"10.0.0.1"}, "mixed.test": {"93.184.216.34", "127.0.0.1"}, "mapped.test": {"::ffff:192.168.0.1"},
		"own.test": {"93.184.216.99"}, "metadata.test": {"169.254.169.254"}, "any.test": {"0.0.0.0"}, "alibaba.test": {"100.100.100.200"}, "azure.test": {"168.63.129.16"}, "oracle.test": {"192.0.0.192"},
	}
	for _, c := range []struct {
		to     string
		allow  string
		dialed string // empty: refused
	}{
		{"public.test:80", "", "93.184.216.34:80"},
		{"93.184.216.34:443", "", "93.184.216.34:443"},
		{"[2606:4700::1]:443", "", "[2606:4700::1]:443"},
		{"private.test:80", "", ""},
		{"mixed.test:80", "", ""},
		{"mapped.test:80", "", ""},
		{"own.test:80", "", ""},
		{"93.184.216.99:80", "", ""},
		{"127.0.0.1:80", "", ""},
		{"[::1]:80", "", ""},
		{"[::ffff:127.0.0.1]:80", "", ""},
		{"localhost:80", "", ""},
		{"a.localhost:80", "", ""},
		{"nothing.test:80", "", ""},
		{"private.test:80", "private.test", "10.0.0.1:80"},
		{"private.test:80", "private.test:80", "10.0.0.1:80"},
		{"private.test:81", "private.test:80", ""},
		{"10.0.0.1:80", "private.test:80", ""},
		{"localhost:3000", "localhost:3000", "127.0.0.1:3000"},
		{"127.0.0.1:3000", "localhost:3000", ""},
		{"[::1]:1", "[::1]", "[::1]:1"},
		{"metadata.test:80", "metadata.test", ""},
		{"alibaba.test:80", "alibaba.test", ""},
		{"azure.test:80", "azure.test", ""},
		{"oracle.test:80", "oracle.test", ""},
		{"169.254.169.254:80", "169.254.169.254", "169.254.169.254:80"},
		{"any.test:80", "any.test", ""},
		{"localhost:6969", "localhost", ""},
		{"127.0.0.1:6969", "127.0.0.1:6969", ""},
		{"0.0.0.0:6969", "0.0.0.0", ""},
		{"own.test:6969", "own.test", ""},
		{"own.test:70", "own.test", "93.184.216.99:70"},
	} {
		p := r.Issue()
		if c.allow != "" {
			p.Allow([]hub.AllowedHost{hub.AllowedHost(c.allow)})
		}
		r.dialed = nil
		to, err := parseTarget(c.to, 0)
		require.NoError(t, err)
		if _, err := p.dial(t.Context(), to); err == nil {
			t.Errorf("%s: the test listens nowhere", c.to)
		}
		first := ""
		if len(r.dialed) > 0 {
			first = r.dialed[0]
		}
		if first != c.dialed {
			t.Errorf("%s, allowed %q: dialed %v, want %q", c.to, c.allow, r.dialed, c.dialed)
		}
		if refused := len(p.Refusals()) > 0; refused != (c.dialed == "" && c.to != "nothing.test:80") {
			t.Errorf("%s, allowed %q: it is said to be refused: %v", c.to, c.allow, refused)
		}
		r.Revoke(p)
	}
}

// browse returns a client that goes through the gate with a pass.
func (r *rig) browse(p *Pass) *http.Client {
	through := &url.URL{Scheme: "http", Host: r.Address()}
	if p != nil {
		through.User = url.UserPassword(p.Name, p.Secret)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(through)}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// TestGateKnowsItsEngine: without the secret of a pass nothing goes through, and with one
// plain requests, tunnels and redirects do; nothing of the proxy reaches the server.
func TestGateKnowsItsEngine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range hopByHop {
			if r.Header.Get(name) != "" {
				t.Errorf("the server is told %s", name)
			}
		}
		w.Header().Set("Location", "http://127.0.0.1/")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, r.Host+r.URL.Path)
	}))
	t.Cleanup(server.Close)
	r := newRig(t, server.Listener.Addr().String())
	r.means["public.test"] = []string{"93.184.216.34"}
	p := r.Issue()
	wrong := &Pass{Name: p.Name, Secret: "guessed"}
	for what, client := range map[string]*http.Client{"no secret": r.browse(nil), "a wrong one": r.browse(wrong), "a wrong name": r.browse(&Pass{Name: "x", Secret: p.Secret})} {
		answer, err := client.Get("http://public.test/")
		require.NoError(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusProxyAuthRequired || len(r.dialed) != 0 {
			t.Errorf("%s: %s, dialed %v", what, answer.Status, r.dialed)
		}
	}
	answer, err := r.browse(p).Get("http://public.test/a")
	require.NoError(t, err)
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusFound || string(body) != "public.test/a" || strings.Join(r.dialed, " ") != "93.184.216.34:80" {
		t.Errorf("%s %q, dialed %v", answer.Status, body, r.dialed)
	}
	if answer, err := r.browse(p).Get("http://127.0.0.1:1/"); err == nil {
		answer.Body.Close()
		t.Errorf("a refused address answers %s", answer.Status)
	}
	for what, target := range map[string]string{"public.test:443": "200", "127.0.0.1:443": "403", "bad host:443": "400"} {
		conn, err := net.Dial("tcp", r.Address())
		require.NoError(t, err)
		secret := base64.StdEncoding.EncodeToString([]byte(p.Name + ":" + p.Secret))
		_, err = io.WriteString(conn, "CONNECT "+what+" HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic "+secret+"\r\n\r\n")
		require.NoError(t, err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, " "+target) {
			t.Errorf("a tunnel to %s: %q, %v", what, line, err)
		}
		conn.Close()
	}
	r.Revoke(p)
	answer, err = r.browse(p).Get("http://public.test/")
	require.NoError(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusProxyAuthRequired {
		t.Errorf("after the pass is taken back: %s", answer.Status)
	}
}

// TestPassIsBounded: one room does not take all connections, and gives them back.
func TestPassIsBounded(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	r := newRig(t, server.Listener.Addr().String())
	p := r.Issue()
	to := target{host: "93.184.216.34", port: 80}
	var open []net.Conn
	for range maxConns {
		conn, err := p.dial(t.Context(), to)
		require.NoError(t, err)
		open = append(open, conn)
	}
	if _, err := p.dial(t.Context(), to); err == nil {
		t.Error("there is no bound")
	}
	open[0].Close()
	open[0].Close()
	conn, err := p.dial(t.Context(), to)
	require.NoError(t, err)
	r.Revoke(p)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives its pass")
	}
	for _, c := range open {
		c.Close()
	}
	conn.Close()
}
