package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// echo is a server of MCP that sends the body back.
func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	_, _ = w.Write(b)
}

// TestMCPIsForTheOwnUser: requests for MCP are handed on for programs of the hub's own user alone. Another user of the
// machine is refused, also one who is let in, because the calls of the server are those of the own user.
func TestMCPIsForTheOwnUser(t *testing.T) {
	p := &people{of: map[string]string{}}
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.MCP = http.HandlerFunc(echo)
		c.HTTP = func(s *httpapi.Config) { s.Peers = p }
	}))
	body := `{"jsonrpc":"2.0"}`
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	res, err := (&http.Client{Transport: transport}).Post(h.URL+api.MCPPath, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	_ = res.Body.Close()
	if res.StatusCode != 200 || string(got) != body {
		t.Errorf("the own user is answered %d %s", res.StatusCode, got)
	}
	p.as(t, h, "eve").refused(hub.CodeOtherUser, "POST", api.MCPPath, body)
	p.as(t, h, "ann").with(api.HeaderOperator, h.Store.OperatorToken()).ok(200, "POST", "/v1/users", `{"user":"eve"}`)
	p.as(t, h, "eve").ok(200, "GET", "/v1/channels", "")
	p.as(t, h, "eve").refused(hub.CodeOtherUser, "POST", api.MCPPath, body)
}

// TestWithoutMCP: a hub that was given no server of MCP has no such path.
func TestWithoutMCP(t *testing.T) {
	h, p := startWithPeople(t)
	p.as(t, h, "ann").refused(hub.CodeNotFound, "POST", api.MCPPath, `{}`)
}
