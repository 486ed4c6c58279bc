package hub

import (
	"net/netip"
	"strconv"
	"strings"
)

// MaxAllowedHosts bounds the hosts that one room allows its browser.
const MaxAllowedHosts = 50

// AllowedHost is a host that the browser of a room may reach although its address is not
// public: a name or an address, perhaps with a port, such as localhost:3000.
type AllowedHost string

// HostPort joins a host and a port; 0: there is none.
func HostPort(host string, port uint16) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}

// ParseHost reads a host with or without a port, and returns it in its canonical form: in
// lower case, without brackets and without a last dot. The port is 0 if there is none.
// Names in other scripts are written as their ASCII form, xn--….
func ParseHost(s string) (host string, port uint16, err error) {
	host, given := strings.ToLower(s), ""
	switch end := strings.LastIndexByte(host, ']'); {
	case strings.HasPrefix(host, "[") && end > 0:
		host, given = host[1:end], host[end+1:]
		if !strings.Contains(host, ":") {
			return "", 0, errHost(s)
		}
	case strings.Count(host, ":") == 1:
		at := strings.IndexByte(host, ':')
		host, given = host[:at], host[at:]
	}
	if given != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(given, ":"), 10, 16)
		if err != nil || n == 0 || given[0] != ':' {
			return "", 0, errHost(s)
		}
		port = uint16(n)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", 0, errHost(s)
		}
		return a.Unmap().String(), port, nil
	}
	host = strings.TrimSuffix(host, ".")
	if !hostName(host) {
		return "", 0, errHost(s)
	}
	return host, port, nil
}

// hostName reports whether a name can be one of a host.
func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, r := range label {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
				return false
			}
		}
	}
	return true
}

func errHost(s string) error {
	return Invalid("host", "this is no host: "+strconv.QuoteToASCII(s)).
		WithFix("write a name or an address, and a port after a colon if only one is meant: localhost:3000, 127.0.0.1, [::1]:8080")
}
