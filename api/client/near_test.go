package client_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testport"
)

func TestOnThisMachine(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:6969":         true,
		"http://127.0.0.2":              true,
		"http://localhost:1":            true,
		"http://[::1]:6969":             true,
		"http://192.0.2.77:6969":        false,
		"http://8.8.8.8":                false,
		"http://0.0.0.0:6969":           false,
		"http://hub.example:6969":       false,
		"http://127.0.0.1.example:6969": false,
		"":                              false,
		"http://[::1":                   false,
	} {
		if got := client.OnThisMachine(base); got != want {
			t.Errorf("%q is on this machine: %v, want %v", base, got, want)
		}
	}
}

// A hub on another address of this machine is called from loopback, so that it takes
// the caller for one on its machine, and proves itself by the same rules.
func TestCallsOfThisMachineComeFromLoopback(t *testing.T) {
	address := testport.Interface()
	switch {
	case address == "":
		t.Skip("needs an address of the machine beside loopback")
	case runtime.GOOS == "windows":
		t.Skip("needs another system than Windows, which does not let calls from loopback out")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	var known *testhub.Fake
	var peers []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		peers = append(peers, host)
		if !known.Prove(w, r) {
			listed("[]")(w, r)
		}
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	if !client.OnThisMachine(server.URL) {
		t.Errorf("%s is not on this machine", server.URL)
	}
	known = testhub.NewFake(t, server.URL, nil)
	c := client.New(client.Config{BaseURL: server.URL, DataRoot: known.DataRoot})
	defer c.Close()
	if !c.Local() {
		t.Error("the hub is not local")
	}
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil || !c.Proved() {
		t.Fatalf("Agents = %v, proved: %v", err, c.Proved())
	}
	for _, peer := range peers {
		if !net.ParseIP(peer).IsLoopback() {
			t.Errorf("a call came from %s", peer)
		}
	}
	server.Close()
	if _, err := c.Info(t.Context()); err == nil {
		t.Error("a hub that has gone answers")
	} else {
		hubError(t, err, hub.CodeUnreachable)
	}
}
