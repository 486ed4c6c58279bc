package forwarder

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testport"
)

// TestForwardedCallsComeFromLoopback: to a hub at another address of this machine the
// forwarder's calls come from loopback; a hub refuses those of a spool from elsewhere.
func TestForwardedCallsComeFromLoopback(t *testing.T) {
	address := testport.Interface()
	switch {
	case address == "":
		t.Skip("needs an address of the machine beside loopback")
	case runtime.GOOS == "windows":
		t.Skip("needs another system than Windows, which does not let calls from loopback out")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	var mu sync.Mutex
	peers := []string{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		mu.Lock()
		peers = append(peers, host)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true,"result":{}}`))
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	b := newBench(t, server.URL)
	defer b.forward(nil)()
	b.wants(200, "", "dev-a", "GET", "/v1/hub-info", "")
	mu.Lock()
	defer mu.Unlock()
	for _, peer := range peers {
		if !net.ParseIP(peer).IsLoopback() {
			t.Errorf("a call came from %s", peer)
		}
	}
	if len(peers) == 0 {
		t.Error("the hub was not called")
	}
}
