package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// The calls by which TestTrust tells what a caller may do. R is a room whose spawns the
// operator allows.
var trustCalls = []struct{ what, method, path, body string }{
	{"reads a channel", "GET", "/v1/messages?channel=general", ""},
	{"reads its own direct messages", "GET", "/v1/inbox/dev", ""},
	{"reads those of an agent by its name", "GET", "/v1/inbox/other", ""},
	{"reads those of all as the operator", "GET", "/v1/inbox/other?as_operator=1", ""},
	{"posts as itself", "POST", "/v1/messages", `{"from_agent":"dev","body":"x"}`},
	{"posts as another agent", "POST", "/v1/messages", `{"from_agent":"other","body":"x"}`},
	{"posts as the operator", "POST", "/v1/messages", `{"from_agent":"operator","channel":"general","body":"x"}`},
	{"sets what is told of", "PUT", "/v1/notify", `{"version":0}`},
	{"names a program", "PUT", "/v1/notify", `{"version":1,"command":["/bin/true","{id}"]}`},
	{"binds a folder", "PUT", "/v1/rooms/R/binding", `{"path":"/tmp","agent_id":"dev"}`},
	{"starts what is allowed", "POST", "/v1/spawn", `{"room_id":"R","harness":"codex","prompt":"x","by":"dev"}`},
	{"starts something else", "POST", "/v1/spawn", `{"room_id":"R","harness":"zed","prompt":"x","by":"dev"}`},
	{"lets a user in", "POST", "/v1/users", `{"user":"eve"}`},
	{"stops the hub", "GET", "/v1/shutdown", ""},
}

// TestTrust: what each kind of caller can read, write and start, on a hub that runs. The
// page docs/guarantees.md, "Who is trusted with what", says the same in words.
func TestTrust(t *testing.T) {
	var (
		ok       = hub.Code("")
		operator = hub.CodeOperatorRequired
		mismatch = hub.CodeAgentMismatch
		reserved = hub.CodeReservedAgent
		denied   = hub.CodeSpawnNotAllowed
		other    = hub.CodeOtherUser
		relay    = hub.CodeForbiddenRelay
		session  = hub.CodeSessionRequired
		page     = hub.CodeForbiddenOrigin
	)
	all := func(code hub.Code) []hub.Code {
		out := make([]hub.Code, len(trustCalls))
		for i := range out {
			out[i] = code
		}
		return out
	}
	for name, want := range map[string][]hub.Code{
		"a program of the hub's user that reads the token": {ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, denied, ok, ok},
		"a sandbox without the data root":                  {ok, ok, ok, operator, ok, ok, reserved, operator, operator, ok, ok, denied, operator, operator},
		"a sandbox with a session":                         {ok, ok, mismatch, operator, ok, mismatch, reserved, operator, operator, ok, ok, denied, operator, operator},
		"another user":                                     all(other),
		"another user with the operator's token":           all(other),
		"a user who is let in":                             {ok, ok, ok, operator, ok, ok, reserved, other, other, other, other, other, other, other},
		"a user who is let in, with the operator's token":  all(other),
		"another machine":                                  all(session),
		"another machine with the operator's token":        all(session),
		"another machine with a session":                   {ok, ok, mismatch, operator, ok, mismatch, reserved, operator, operator, hub.CodeInvalid, denied, denied, operator, operator},
		"a spool":                                          {ok, ok, mismatch, operator, ok, mismatch, reserved, operator, operator, relay, relay, relay, operator, operator},
		"a spool with the operator's token":                all(operator),
		"a page of the web":                                all(page),
		"a console":                                        {ok, ok, ok, ok, ok, ok, ok, ok, operator, ok, ok, denied, operator, ok},
	} {
		t.Run(name, func(t *testing.T) {
			p := &people{of: map[string]string{}}
			h := testhub.Start(t, spawning, testhub.With(func(c *supervisor.Config) {
				c.AllowRemote = true
				c.HTTP = func(s *httpapi.Config) { s.Peers, s.LocalAddrs = p, fixedAddrs }
			}))
			own := p.as(t, h, "ann")
			token := h.Store.OperatorToken()
			human := own.with(api.HeaderOperator, token)
			room := newRoom(own, "app", "Build")
			allow(human, room, 0, map[hub.Harness]string{hub.HarnessCodex: "true"})
			human.ok(200, "POST", "/v1/users", `{"user":"bob"}`)
			own.ok(201, "POST", "/v1/messages", `{"from_agent":"other","to_agent":"third","body":"for third alone"}`)
			proved := func() string { // of dev
				return own.ok(201, "POST", "/v1/sessions", `{"agent_id":"dev"}`).row("session_id").(string)
			}

			call := func(method, path, body string) hub.Code { return own.call(method, path, body).Code }
			through := func(c *client) {
				call = func(method, path, body string) hub.Code { return c.call(method, path, body).Code }
			}
			remote := func(headers ...string) {
				call = func(method, path, body string) hub.Code {
					if body != "" {
						headers = append(headers[:len(headers):len(headers)], "Content-Type: "+api.ContentType)
					}
					_, code := remoteCall(t, h.HTTP, method, path, body, headers...)
					return hub.Code(strings.TrimPrefix(string(code), "ok"))
				}
			}
			switch name {
			case "a program of the hub's user that reads the token":
				through(human)
			case "a sandbox with a session":
				through(own.with(api.HeaderSession, proved()))
			case "another user":
				through(p.as(t, h, "eve"))
			case "another user with the operator's token":
				through(p.as(t, h, "eve").with(api.HeaderOperator, token))
			case "a user who is let in":
				through(p.as(t, h, "bob"))
			case "a user who is let in, with the operator's token":
				through(p.as(t, h, "bob").with(api.HeaderOperator, token))
			case "another machine":
				remote()
			case "another machine with the operator's token":
				remote(api.HeaderOperator + ": " + token)
			case "another machine with a session":
				remote(api.HeaderSession + ": " + proved())
			case "a spool":
				through(own.with(api.HeaderRelay, "dev"))
			case "a spool with the operator's token":
				through(own.with(api.HeaderRelay, "dev").with(api.HeaderOperator, token))
			case "a page of the web":
				through(own.with("Origin", "https://evil.example").with(api.HeaderOperator, token))
			case "a console":
				pass, _ := enter(t, own, human)
				through(pass)
			}
			for i, c := range trustCalls {
				fill := strings.NewReplacer("R", room)
				if got := call(c.method, fill.Replace(c.path), fill.Replace(c.body)); got != want[i] {
					t.Errorf("%s: %q, want %q", c.what, got, want[i])
				}
			}
		})
	}
}
