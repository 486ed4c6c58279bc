package httpapi

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// FuzzHost: every accepted Host names an address of this machine and our port.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1:6000", "localhost:6000", "[::1]:6000", "192.0.2.7:6000", "127.0.0.1.evil:6000", "[::ffff:127.0.0.1]:6000", "127.1:6000", "LOCALHOST:6000",
	} {
		f.Add(seed)
	}
	ours := map[string]bool{"127.0.0.1": true, "::1": true, "192.0.2.7": true}
	remote := &Server{config: Config{AllowRemote: true, LocalAddrs: func() []netip.Addr { return nil }}}
	local := &Server{}
	at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 6000}
	f.Fuzz(func(t *testing.T, host string) {
		if local.hostAllowed(host, at) && !remote.hostAllowed(host, at) {
			t.Errorf("%q is taken, but not with AllowRemote", host)
		}
		if !remote.hostAllowed(host, at) {
			return
		}
		name, port, err := net.SplitHostPort(host)
		if err != nil || port != "6000" {
			t.Fatalf("%q is taken", host)
		}
		if strings.ToLower(name) == "localhost" { // names know no case
			return
		}
		ip := net.ParseIP(name)
		if ip == nil || !ours[ip.String()] || strings.ContainsAny(name, "%") {
			t.Errorf("%q is taken", host)
		}
		if ip.String() == "192.0.2.7" && local.hostAllowed(host, at) {
			t.Errorf("%q is taken without AllowRemote", host)
		}
	})
}
