package cli

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/cli/agent"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/testcli"
	"hubcli/internal/testhub"
)

// hooked runs a hook with a payload and tells how long it took.
func hooked(t *testing.T, vars map[string]string, stdin io.Reader, args ...string) (ran, time.Duration) {
	t.Helper()
	env := testcli.World(t, vars)
	env.Stdin = stdin
	begin := time.Now()
	got := runIn(t, env, append([]string{"hook"}, args...)...)
	return got, time.Since(begin)
}

// unhurried runs a hook that has something to say, however slow the machine is.
func unhurried(t *testing.T, vars map[string]string, stdin io.Reader, args ...string) ran {
	t.Helper()
	env := testcli.World(t, vars)
	env.Stdin, env.HookBudget = stdin, time.Minute
	return runIn(t, env, append([]string{"hook"}, args...)...)
}

// patience is more than the budget of a hook, because machines are slow at times;
// what hangs takes much longer.
const patience = 20 * time.Second

// TestHookIsSilentWithoutAHub whatever there is instead, within its budget.
func TestHookIsSilentWithoutAHub(t *testing.T) {
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	drops := listen()
	go func() {
		for {
			c, err := drops.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example ESMTP\r\n"))
			c.Close()
		}
	}()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	for name, url := range map[string]string{
		"nobody":               "http://127.0.0.1:" + testcli.FreeTCPPort(t),
		"one who never speaks": "http://" + listen().Addr().String(), // the system accepts for it
		"another program":      "http://" + drops.Addr().String(),
		"a web server":         web.URL,
		"nowhere":              "http://192.0.2.1:6969", // set aside for documents: leads nowhere
		"no address":           "ftp://x",
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "data")
			vars := map[string]string{"HUB_DATA_ROOT": root, "HUB_BASE_URL": url, "HUB_AGENT": "dev-a"}
			for _, event := range hook.Events() {
				got, took := hooked(t, vars, strings.NewReader(testcli.StopPayload), string(event))
				silence := "{}"
				if event == hook.BeforeCommit {
					silence = ""
				}
				if got != (ran{0, silence, ""}) || took > patience {
					t.Errorf("%s: %+v after %s", event, got, took)
				}
			}
			if _, err := os.Stat(root); err == nil {
				t.Error("the data root was made")
			}
		})
	}
}

// TestHookGivesUpOnStdin that never ends, unless all has come.
func TestHookGivesUpOnStdin(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/hub-info":   {`{"ok":true,"result":{"instance_id":"i"}}`},
		"GET /v1/resolve":    {`{"ok":true,"result":{"bound":false}}`},
		"GET /v1/attention":  {`{"ok":true,"result":{"unread":1,"directed":[{"id":4,"from_agent":"b","kind":"chat","direct":true,"excerpt":"hi"}]}}`},
		"POST /v1/attention": {`{"ok":true,"result":{"told_id":4,"moved":true}}`},
	})
	for _, tt := range []struct {
		name, sent string
		speaks     bool
	}{
		{"nothing", "", false},
		{"a part", testcli.StopPayload[:20], false},
		{"all", testcli.StopPayload, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			go func() { _, _ = io.WriteString(w, tt.sent) }()
			vars := map[string]string{"HUB_BASE_URL": s.URL, "HUB_AGENT": "dev-a", "HUB_DATA_ROOT": t.TempDir()}
			var got ran
			var took time.Duration
			if tt.speaks {
				got = unhurried(t, vars, r, "stop", "--harness", "codex")
			} else {
				got, took = hooked(t, vars, r, "stop", "--harness", "codex")
			}
			if got.exit != 0 || got.stderr != "" || strings.HasPrefix(got.stdout, `{"decision":"block"`) != tt.speaks || took > patience {
				t.Errorf("%+v after %s", got, took)
			}
			if !tt.speaks && got.stdout != "{}" {
				t.Errorf("stdout %q", got.stdout)
			}
			if !tt.speaks && took < agent.HookStdin {
				t.Errorf("it gave up after %s", took)
			}
		})
	}
}

// TestKimiIsHeldByItsExitCode, the only one that does not end with 0.
func TestKimiIsHeldByItsExitCode(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/hub-info":   {`{"ok":true,"result":{"instance_id":"i"}}`},
		"GET /v1/resolve":    {`{"ok":true,"result":{"bound":false}}`},
		"GET /v1/attention":  {`{"ok":true,"result":{"directed":[{"id":4,"from_agent":"b","kind":"chat","direct":true,"excerpt":"hi"}]}}`},
		"POST /v1/attention": {`{"ok":true,"result":{"told_id":4,"moved":true}}`},
	})
	vars := map[string]string{"HUB_BASE_URL": s.URL, "HUB_AGENT": "dev-a"}
	got := unhurried(t, vars, strings.NewReader(`{"session_id":"s","cwd":"/"}`), "stop", "--harness", "kimi")
	if got.exit != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "The hub has messages for you, agent dev-a:\n- #4 from b (direct)\n") {
		t.Errorf("%+v", got)
	}
}

// TestHookReadsAllOfALongPayload, and is silent where it cannot know the rest.
func TestHookReadsAllOfALongPayload(t *testing.T) {
	in := strings.NewReader(`{"turn_id":"t","last_assistant_message":"` + strings.Repeat("x", 3*hook.MaxPayload) + `"}`)
	got := unhurried(t, map[string]string{"HUB_AGENT": "dev-a", "HUB_BASE_URL": "http://127.0.0.1:1"}, in, "stop")
	if got != (ran{0, "{}", ""}) || in.Len() != 0 {
		t.Errorf("%+v, %d bytes unread", got, in.Len())
	}
}

// TestHookOutlivesAPanic: Go's own exit code for one would hold the turn.
func TestHookOutlivesAPanic(t *testing.T) {
	env := testcli.World(t, map[string]string{"HUB_AGENT": "dev-a", "HUB_BASE_URL": "http://127.0.0.1:1"})
	env.Stdin = strings.NewReader(testcli.StopPayload)
	env.Now = func() time.Time { panic("a test") }
	if got := runIn(t, env, "hook", "stop", "--harness", "codex"); got != (ran{0, "{}", ""}) {
		t.Errorf("%+v", got)
	}
}

// TestHookMistakes end with 1: to harnesses 2 means to hold the turn.
func TestHookMistakes(t *testing.T) {
	for args, sentence := range map[string]string{
		"":                         "hubcli hook needs its argument event",
		"start":                    `there is no hook for the event "start"`,
		"stop now":                 `hubcli hook takes no argument "now"`,
		"stop --port 1":            "hubcli hook has no flag --port",
		"stop --base-url":          "the flag --base-url needs a value",
		"stop --base-url ftp://x":  "the base address does not begin with http:// or https://",
		"session-start --base-url": "the flag --base-url needs a value",
		"stop --data-root":         "the flag --data-root needs a value",
		"stop --data-root=":        "--data-root cannot be empty",
	} {
		got, _ := hooked(t, nil, strings.NewReader("{}"), strings.Fields(args)...)
		if got.exit != term.ExitRefused || got.stdout != "" || !strings.HasPrefix(got.stderr, "hubcli: "+sentence+"\nfix: ") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got, _ := hooked(t, map[string]string{"HUB_BASE_URL": "http://127.0.0.1:1"}, strings.NewReader("{}"), "stop", "--harness", "unheard-of"); got != (ran{0, "", ""}) {
		t.Errorf("an unknown harness: %+v", got)
	}
}

// TestHookOfAnotherDataRoot: the line of an adapter says where the bridge keeps
// what it knows, whatever the environment has.
func TestHookOfAnotherDataRoot(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/hub-info":   {`{"ok":true,"result":{"instance_id":"i"}}`},
		"GET /v1/attention":  {`{"ok":true,"result":{"directed":[{"id":4,"from_agent":"b","kind":"chat","direct":true,"excerpt":"hi"}]}}`},
		"POST /v1/attention": {`{"ok":true,"result":{"told_id":4,"moved":true}}`},
	})
	root := filepath.Join(t.TempDir(), "a b")
	if err := identity.SessionsOf(root).Replace("s", identity.Binding{AgentID: "of-that-root", BaseURL: s.URL, InstanceID: "i"}); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HUB_DATA_ROOT": t.TempDir(), "HUB_BASE_URL": s.URL}
	got := unhurried(t, vars, strings.NewReader(testcli.StopPayload), "stop", "--harness", "codex", "--data-root", root)
	if got.exit != 0 || !strings.Contains(got.stdout, "agent of-that-root:") {
		t.Errorf("%+v", got)
	}
}

// promptHub answers a permission hook as the hub of this user: the paths that hang never
// answer. It returns its address and its data root.
func promptHub(t *testing.T, hangs string) (url, dataRoot string) {
	t.Helper()
	ended := make(chan struct{})
	mux := http.NewServeMux()
	answer := func(path string, result func(body []byte) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if hangs != "" && strings.HasSuffix(r.URL.Path, hangs) {
				<-ended
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Hub-Instance", string(testhub.FakeInstance))
			_, _ = io.WriteString(w, `{"ok":true,"result":`+result(body)+`}`)
		})
	}
	proved := func(p hub.Permission) func([]byte) string {
		return func(body []byte) string {
			var sent struct{ Nonce string }
			_ = json.Unmarshal(body, &sent)
			p.MAC = api.VerdictMAC(testhub.FakeToken, sent.Nonce, sha256.Sum256(body), &p)
			b, _ := json.Marshal(p)
			return string(b)
		}
	}
	id := hub.AskID("ask_1")
	answer("/v1/hub-info", func([]byte) string { return `{"instance_id":"` + string(testhub.FakeInstance) + `"}` })
	answer("/v1/turns", func([]byte) string { return `{"noted":true}` })
	answer("/v1/permissions/requests", proved(hub.Permission{Verdict: hub.PermissionAsk, AskID: &id, WaitSec: 1}))
	answer("/v1/permissions/requests/ask_1/await", proved(hub.Permission{Verdict: hub.PermissionAllow, AskID: &id}))
	var fake *testhub.Fake
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fake.Prove(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { close(ended); s.Close() })
	fake = testhub.NewFake(t, s.URL, nil)
	return s.URL, fake.DataRoot
}

// TestHookWaitsNoLongerThanItMay: a hub that hangs before it has asked the operator costs
// what every hook may take; one that hangs afterward, the time for the answer and no more.
func TestHookWaitsNoLongerThanItMay(t *testing.T) {
	const prompt = `{"session_id":"s","prompt_id":"p","cwd":"/","tool_name":"Bash","tool_input":{"command":"make"}}`
	for hangs, want := range map[string]string{"": "allow", "/requests": "", "/await": ""} {
		url, root := promptHub(t, hangs)
		vars := map[string]string{"HUB_DATA_ROOT": root, "HUB_BASE_URL": url, "HUB_AGENT": "dev-a"}
		var got ran
		var took time.Duration
		if want != "" {
			got = unhurried(t, vars, strings.NewReader(prompt), "permission")
		} else {
			got, took = hooked(t, vars, strings.NewReader(prompt), "permission")
		}
		if got.exit != 0 || got.stderr != "" || (got.stdout == "") != (want == "") || !strings.Contains(got.stdout, want) || took > patience {
			t.Errorf("a hub that hangs at %q: %+v after %s", hangs, got, took)
		}
	}
}
