package gate

import (
	"net/netip"
	"strings"

	"hubcli/hub"
)

// target is what an engine asks for.
type target struct {
	host string // lower case, without brackets and a last dot
	port uint16
}

func (t target) String() string { return hub.HostPort(t.host, t.port) }

// allowed reports whether the hosts of a room name the target.
func (t target) allowed(hosts []hub.AllowedHost) bool {
	for _, h := range hosts {
		name, port, err := hub.ParseHost(string(h))
		if err == nil && name == t.host && (port == 0 || port == t.port) {
			return true
		}
	}
	return false
}

// parseTarget reads host and port of a request.
func parseTarget(hostport string, port uint16) (target, error) {
	host, given, err := hub.ParseHost(hostport)
	if given != 0 {
		port = given
	}
	return target{host: host, port: port}, err
}

// loopbackName reports whether a name always means this machine.
func loopbackName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// loopbacks are the addresses of such a name.
func loopbacks() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
}
