package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"hubcli/httpapi"
	"hubcli/hub"
)

// hosts are values of the Host header. PORT is the server's port. local says
// that the value is accepted, remote that it is accepted with AllowRemote.
var hosts = []struct {
	value         string
	local, remote bool
}{
	{"127.0.0.1:PORT", true, true},
	{"localhost:PORT", true, true},
	{"[::1]:PORT", true, true},
	{"[0:0:0:0:0:0:0:1]:PORT", true, true},
	{"[0000:0000:0000:0000:0000:0000:0000:0001]:PORT", true, true},
	{"192.0.2.7:PORT", false, true},
	{"[2001:db8::7]:PORT", false, true},
	{"[2001:DB8:0::7]:PORT", false, true},

	{"", false, false},
	{":PORT", false, false},
	{"127.0.0.1", false, false},
	{"127.0.0.1:", false, false},
	{"127.0.0.1:1", false, false},
	{"127.0.0.1:0PORT", false, false},
	{"127.0.0.1:+PORT", false, false},
	{"127.0.0.1:PORT:PORT", false, false},
	{"127.0.0.1:PORTx", false, false},
	{"127.0.0.1::PORT", false, false},
	{"127.0.0.1.:PORT", false, false},
	{"127.0.0.1,evil.example:PORT", false, false},
	{"127.0.0.1.evil.example:PORT", false, false},
	{"127.0.0.1.nip.io:PORT", false, false},
	{"127.0.0.1@evil.example:PORT", false, false},
	{"evil.example@127.0.0.1:PORT", false, false},
	{"127.evil.example:PORT", false, false},
	{"127.0.0.2:PORT", false, false},
	{"127.1:PORT", false, false},
	{"127.0.1:PORT", false, false},
	{"2130706433:PORT", false, false},
	{"0x7f.0.0.1:PORT", false, false},
	{"0x7f000001:PORT", false, false},
	{"0177.0.0.1:PORT", false, false},
	{"127.000.000.001:PORT", false, false},
	{"0.0.0.0:PORT", false, false},
	{"0:PORT", false, false},
	{"255.255.255.255:PORT", false, false},
	{"169.254.169.254:PORT", false, false},
	{"192.0.2.8:PORT", false, false},
	{"192.0.2.70:PORT", false, false},
	{"192.0.2.7.evil.example:PORT", false, false},
	{"[::]:PORT", false, false},
	{"[::2]:PORT", false, false},
	{"[::1%25lo]:PORT", false, false},
	{"[::1%lo]:PORT", false, false},
	{"[fe80::1%25eth0]:PORT", false, false},
	{"[::ffff:127.0.0.1]:PORT", false, false},
	{"[::ffff:7f00:1]:PORT", false, false},
	{"[::127.0.0.1]:PORT", false, false},
	{"[::1:PORT", false, false},
	{"::1:PORT", false, false},
	{"::1]:PORT", false, false},
	{"[[::1]]:PORT", false, false},
	{"[::1]", false, false},
	{"[::1]x:PORT", false, false},
	{"[127.0.0.1]:PORT", false, false},
	{"[localhost]:PORT", false, false},
	{"[2001:db8::8]:PORT", false, false},
	{"localhost", false, false},
	{"localhost.:PORT", false, false},
	{"LOCALHOST:PORT", true, true},
	{"localhoſt:PORT", false, false},
	{"localhost.localdomain:PORT", false, false},
	{"localhost.evil.example:PORT", false, false},
	{"evil-localhost:PORT", false, false},
	{"notlocalhost:PORT", false, false},
	{"localhost4:PORT", false, false},
	{"ip6-localhost:PORT", false, false},
	{"foo.localhost:PORT", false, false},
	{"hub.local:PORT", false, false},
	{"evil.example:PORT", false, false},
	{"evil.example", false, false},
	{"http://127.0.0.1:PORT", false, false},
	{"127.0.0.1:PORT/", false, false},
	{"127.0.0.1:PORT#", false, false},
	{"127.0.0.1:PORT?", false, false},
	{"127.0.0.1\\:PORT", false, false},
	{"１２７.0.0.1:PORT", false, false},
}

func TestHost(t *testing.T) {
	for _, remote := range []bool{false, true} {
		e := startEdge(t, func(c *httpapi.Config) { c.AllowRemote = remote })
		for _, h := range hosts {
			value := strings.ReplaceAll(h.value, "PORT", e.port)
			taken := h.local || remote && h.remote
			for _, path := range []string{"/v1/hub-info", "/healthz", "/no-such-path"} {
				resp, body := e.exchange(t, "GET "+path+" HTTP/1.1\r\nHost: "+value+"\r\n\r\n")
				switch {
				case taken && resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest:
				case !taken && resp.StatusCode == http.StatusForbidden && codeOf(t, body) == hub.CodeForbiddenHost:
				case !taken && resp.StatusCode == http.StatusBadRequest && resp.Header.Get("Content-Type") != "application/json":
					// net/http refused it as an invalid host.
				default:
					t.Errorf("remote %v, Host %q, %s: status %d %s", remote, value, path, resp.StatusCode, body)
				}
			}
		}
	}
}

// TestHostOfTheRequestLine: an absolute form replaces the header.
func TestHostOfTheRequestLine(t *testing.T) {
	e := startEdge(t, nil)
	for _, c := range []struct {
		line, host string
		status     int
	}{
		{"http://evil.example/v1/hub-info", e.addr, 403},
		{"http://" + e.addr + "/v1/hub-info", "evil.example", 200},
		{"//evil.example/v1/hub-info", e.addr, 404},
	} {
		resp, body := e.exchange(t, "GET "+c.line+" HTTP/1.1\r\nHost: "+c.host+"\r\n\r\n")
		if resp.StatusCode != c.status {
			t.Errorf("%s: status %d %s", c.line, resp.StatusCode, body)
		}
	}
}

func TestBrowserDefence(t *testing.T) {
	e := startEdge(t, nil)
	own := "http://" + e.addr
	for _, c := range []struct {
		headers []string
		taken   bool
	}{
		{nil, true},
		{[]string{"Origin: " + own}, true},
		{[]string{"Sec-Fetch-Site: same-origin"}, true},
		{[]string{"Sec-Fetch-Site: none"}, true},
		{[]string{"Origin: " + own, "Sec-Fetch-Site: same-origin"}, true},
		{[]string{"Origin: http://localhost:" + e.port}, false}, // another origin than the Host
		{[]string{"Origin: https://" + e.addr}, false},
		{[]string{"Origin: " + own + "/"}, false},
		{[]string{"Origin: " + own + ".evil.example"}, false},
		{[]string{"Origin: " + strings.ToUpper(own)}, false},
		{[]string{"Origin: http://127.0.0.1"}, false},
		{[]string{"Origin: http://evil.example"}, false},
		{[]string{"Origin: null"}, false},
		{[]string{"Origin:"}, false},
		{[]string{"Origin: *"}, false},
		{[]string{"Origin: " + own, "Origin: " + own}, false},
		{[]string{"Origin: " + own, "Origin: http://evil.example"}, false},
		{[]string{"Origin: file://"}, false},
		{[]string{"Origin: chrome-extension://abc"}, false},
		{[]string{"Sec-Fetch-Site: cross-site"}, false},
		{[]string{"Sec-Fetch-Site: same-site"}, false},
		{[]string{"Sec-Fetch-Site: None"}, false},
		{[]string{"Sec-Fetch-Site:"}, false},
		{[]string{"Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"}, false},
		{[]string{"Origin: " + own, "Sec-Fetch-Site: cross-site"}, false},
		{[]string{"Origin: http://evil.example", "Sec-Fetch-Site: same-origin"}, false},
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS", "HEAD"} {
			for _, path := range []string{"/v1/hub-info", "/healthz", "/v1/sessions/x", "/nowhere"} {
				resp, body := e.send(t, method, path, "", c.headers...)
				if refused := resp.StatusCode == http.StatusForbidden; refused == c.taken {
					t.Errorf("%s %s %q: status %d", method, path, c.headers, resp.StatusCode)
				} else if refused && method != "HEAD" && codeOf(t, body) != hub.CodeForbiddenOrigin {
					t.Errorf("%s %s %q: %s", method, path, c.headers, body)
				}
				for name := range resp.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s %q: the answer has %s", method, path, c.headers, name)
					}
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

func TestStoreAndOperator(t *testing.T) {
	e := startEdge(t, nil)
	for _, c := range []struct {
		path    string
		headers []string
		code    hub.Code
	}{
		{"/v1/hub-info", []string{"X-Hub-Instance: " + testInstance}, "ok"},
		{"/v1/hub-info", []string{"X-Hub-Instance: another"}, hub.CodeStoreChanged},
		{"/v1/hub-info", []string{"X-Hub-Instance:"}, hub.CodeStoreChanged},
		{"/v1/hub-info", []string{"X-Hub-Instance: " + testInstance, "X-Hub-Instance: " + testInstance}, hub.CodeStoreChanged},
		{"/v1/hub-info", []string{"X-Hub-Operator: " + testToken}, "ok"},
		{"/v1/hub-info", []string{"X-Hub-Operator: wrong"}, hub.CodeOperatorRequired},
		{"/v1/hub-info", []string{"X-Hub-Operator:"}, hub.CodeOperatorRequired},
		{"/v1/hub-info", []string{"X-Hub-Operator: " + testToken + "x"}, hub.CodeOperatorRequired},
		{"/v1/hub-info", []string{"X-Hub-Operator: " + testToken, "X-Hub-Operator: " + testToken}, hub.CodeOperatorRequired},
		{"/v1/shutdown", nil, hub.CodeOperatorRequired},
		{"/v1/inbox/operator", nil, hub.CodeOperatorRequired},
		{"/v1/inbox/agent-1?as_operator=1", nil, hub.CodeOperatorRequired},
		{"/v1/events?agent_id=operator", nil, hub.CodeOperatorRequired},
		{"/v1/agents", []string{"X-Hub-Session: s1.secret"}, "ok"},
		{"/v1/agents", []string{"X-Hub-Session: s1"}, hub.CodeSessionInvalid},
		{"/v1/agents", []string{"X-Hub-Session:"}, hub.CodeSessionInvalid},
		{"/v1/agents", []string{"X-Hub-Session: s1.secret", "X-Hub-Session: s1.secret"}, hub.CodeSessionInvalid},
		{"/v1/agents?as=agent-1", []string{"X-Hub-Session: s1.secret"}, "ok"},
		{"/v1/agents?as=agent-2", []string{"X-Hub-Session: s1.secret"}, hub.CodeAgentMismatch},
		{"/v1/hub-info", []string{"X-Hub-Session: unknown"}, "ok"}, // the operation uses no session
	} {
		if _, body := e.get(t, c.path, c.headers...); codeOf(t, body) != c.code {
			t.Errorf("%s %q: %s, want %s", c.path, c.headers, body, c.code)
		}
	}
}

// TestTouch: every call that names an agent counts as a sign of life, unless it
// is refused.
func TestTouch(t *testing.T) {
	e := startEdge(t, nil)
	for _, path := range []string{
		"/v1/agents?as=agent-1", "/v1/agents", "/v1/agents?as=a%2Fb", "/v1/agents?as=agent-2&as=agent-3",
		"/v1/agents?as=operator",
	} {
		e.get(t, path)
	}
	e.get(t, "/v1/agents?as=agent-4", "X-Hub-Session: s1.secret")
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.touched) != 1 || e.touched[0] != "agent-1" {
		t.Errorf("touched %q", e.touched)
	}
}
