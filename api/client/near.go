package client

import (
	"net"
	"net/url"
	"runtime"
	"time"

	"hubcli/api"
)

// nearTimeout bounds a connection within this machine. If nothing listens, the
// refusal may not reach loopback (IPv6 on Linux), so silence means no.
const nearTimeout = 250 * time.Millisecond

// OnThisMachine reports whether a base address certainly belongs to this
// machine: loopback, or the IP address of one of its interfaces. Of names it
// only accepts localhost.
func OnThisMachine(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (isLoopback(u.Hostname()) || isInterface(u.Hostname()))
}

// isLoopback compares the exact name or the parsed address, never a prefix.
func isLoopback(host string) bool { return api.Loopback(host) }

// isInterface reports whether host is the IP address of an interface of this
// machine. Nothing that is sent there leaves it.
func isInterface(host string) bool {
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, addr := range addrs {
		if own, ok := addr.(*net.IPNet); ok && own.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// fromLoopback reports whether calls to host, an address of this machine, can
// be made from its loopback address. Then the hub sees that the caller is on
// its machine. That is safe: the system drops packets from outside with a
// loopback source. Windows does not send such packets.
func fromLoopback(host string) bool {
	return runtime.GOOS != "windows" && !isLoopback(host) && isInterface(host)
}
