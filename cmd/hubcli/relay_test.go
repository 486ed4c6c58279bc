package main

import (
	"net"
	"testing"

	"hubcli/internal/require"
)

// TestLoopbackURL: the daemon's own forwarder calls it over loopback, or not at
// all.
func TestLoopbackURL(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:6969":  "http://127.0.0.1:6969",
		"127.0.0.9:1":     "http://127.0.0.9:1",
		"[::1]:6969":      "http://[::1]:6969",
		"0.0.0.0:6969":    "http://127.0.0.1:6969",
		"[::]:6969":       "http://[::1]:6969",
		"192.0.2.7:6969":  "",
		"[2001:db8::1]:6": "",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		require.NoError(t, err)
		if got, ok := loopbackURL(tcp); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", addr, got, ok, want)
		}
	}
}
