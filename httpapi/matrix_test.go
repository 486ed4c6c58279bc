package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestMatrix: what a request gets is decided by its Host, then by where its page comes
// from, then by its path and method, then by the type of its body, and by nothing else.
// Each of the four has all values of the others.
func TestMatrix(t *testing.T) {
	e := startEdge(t, nil)
	c := &keptAlive{t: t, addr: e.addr}
	defer c.close()
	cells := 0
	for _, host := range matrixHosts {
		name := strings.ReplaceAll(host.value, "PORT", e.port)
		for _, page := range matrixPages {
			for _, path := range matrixPaths {
				for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT"} {
					for _, kind := range matrixTypes {
						var b strings.Builder
						fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path.path, name)
						b.WriteString(strings.ReplaceAll(page.headers, "HOST", name))
						if kind.value != "" {
							b.WriteString("Content-Type: " + kind.value + "\r\n")
						}
						if method == "POST" || method == "PUT" {
							b.WriteString("Content-Length: 2\r\n\r\n{}")
						} else {
							b.WriteString("\r\n")
						}
						want := hub.Code("")
						switch {
						case !host.taken:
							want = hub.CodeForbiddenHost
						case !page.taken:
							want = hub.CodeForbiddenOrigin
						case len(path.methods) == 0:
							want = hub.CodeNotFound
						case !slices.Contains(path.methods, method):
							want = hub.CodeMethodNotAllowed
						case !kind.taken && method == "POST": // only a body has a type
							want = hub.CodeUnsupportedMedia
						}
						cells++
						if err := c.expect(method, b.String(), want); err != nil {
							t.Fatalf("cell %d, %q: %v", cells, b.String(), err)
						}
					}
				}
			}
		}
	}
	if t.Logf("%d cells", cells); cells < 2_000 {
		t.Errorf("only %d cells", cells)
	}
}

var matrixHosts = []struct {
	value string
	taken bool
}{
	{"127.0.0.1:PORT", true},
	{"localhost:PORT", true},
	{"[::1]:PORT", true},
	{"127.0.0.1", false},
	{"127.0.0.1:1", false},
	{"evil.example:PORT", false},
	{"127.0.0.1.evil.example:PORT", false},
	{"0.0.0.0:PORT", false},
	{"hub.local:PORT", false},
	{"192.0.2.7:PORT", false},
}

var matrixPages = []struct {
	headers string
	taken   bool
}{
	{"", true},
	{"Origin: http://HOST\r\n", true},
	{"Origin: http://HOST\r\nSec-Fetch-Site: same-origin\r\n", true},
	{"Sec-Fetch-Site: none\r\n", true},
	{"Origin: http://evil.example\r\n", false},
	{"Origin: null\r\n", false},
	{"Origin: https://HOST\r\n", false},
	{"Sec-Fetch-Site: cross-site\r\n", false},
	{"Sec-Fetch-Site: same-site\r\n", false},
	{"Origin: http://HOST\r\nSec-Fetch-Site: cross-site\r\n", false},
}

var matrixPaths = []struct {
	path    string
	methods []string // none: there is no such path
}{
	{"/v1/hub-info", []string{"GET", "HEAD"}},
	{"/healthz", []string{"GET", "HEAD"}},
	{"/v1/agents?as=agent-1", []string{"GET", "HEAD"}},
	{"/v1/messages", []string{"GET", "HEAD", "POST"}},
	{"/v1/nowhere", nil},
}

var matrixTypes = []struct {
	value string
	taken bool
}{
	{"", true},
	{"application/json", true},
	{"text/plain", false},
	{"application/x-www-form-urlencoded", false},
}

// keptAlive sends requests through one connection as long as it stays open.
type keptAlive struct {
	t    *testing.T
	addr string
	conn net.Conn
	r    *bufio.Reader
}

func (c *keptAlive) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// expect sends a request and compares the code of the answer; without a code it must be
// none of those that a refusal has before a call is looked at.
func (c *keptAlive) expect(method, raw string, want hub.Code) error {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.addr)
		require.NoError(c.t, err)
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	require.NoError(c.t, c.conn.SetDeadline(time.Now().Add(45*time.Second)))
	if _, err := io.WriteString(c.conn, raw); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.Close {
		c.close()
	}
	refusals := []hub.Code{hub.CodeForbiddenHost, hub.CodeForbiddenOrigin, hub.CodeNotFound, hub.CodeMethodNotAllowed, hub.CodeUnsupportedMedia}
	var got api.Envelope
	if method == "HEAD" { // it has no body; the status says enough
		for _, code := range refusals {
			if hub.InfoOf(code).Status == resp.StatusCode && (want == "" || hub.InfoOf(code).Status == hub.InfoOf(want).Status) {
				got.Code = code
			}
		}
		if want != "" && resp.StatusCode == hub.InfoOf(want).Status {
			got.Code = want
		}
	} else if err := json.Unmarshal(body, &got); err != nil {
		return fmt.Errorf("status %d %q: %w", resp.StatusCode, body, err)
	}
	if want == "" && slices.Contains(refusals, got.Code) || want != "" && got.Code != want {
		return fmt.Errorf("status %d %s, want the code %q", resp.StatusCode, body, want)
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "" {
		return fmt.Errorf("the answer lets other pages read it: %v", resp.Header)
	}
	return nil
}
