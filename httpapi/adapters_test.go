package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// adapted is a hub with a home folder, called as its operator.
type adapted struct {
	*client
	hub  *testhub.Hub
	home string
}

// startAdapted has a script in the place of the hub's executable.
func startAdapted(t *testing.T, script string) *adapted {
	t.Helper()
	home := t.TempDir()
	self := filepath.Join(home, "hubcli")
	require.NoError(t, os.WriteFile(self, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	h := testhub.Start(t, testhub.Adapters(home, self))
	return &adapted{client: newClient(t, h).with("X-Hub-Operator", h.Store.OperatorToken()), hub: h, home: home}
}

func (a *adapted) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(a.home, name)
	// A process that is forked meanwhile would hold the file open for writing,
	// and a file that is open for writing cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)))
}

// confirmed sends a call and then confirms the plan that the answer shows.
func (a *adapted) confirmed(path, body string) answer {
	a.t.Helper()
	asked := a.refused(hub.CodeConfirmRequired, "POST", path, body)
	if asked.Detail["prompt"] == "" || asked.Fix == "" {
		a.t.Errorf("%s asks %+v", path, asked.Detail)
	}
	return a.ok(200, "POST", path, strings.Replace(body, "{", `{"confirm":"`+asked.Detail["digest"].(string)+`",`, 1))
}

// TestAdapters: what each operation does, and what it refuses.
func TestAdapters(t *testing.T) {
	a := startAdapted(t, "exit 1")
	anybody := newClient(t, a.hub)
	if got := anybody.ok(200, "GET", "/v1/adapters", "").rows(); got != len(hub.Harnesses()) {
		t.Errorf("%d adapters", got)
	}
	if got := anybody.ok(200, "GET", "/v1/adapters/Claude%20Code", "").row("harness"); got != "claude-code" {
		t.Errorf("harness %v", got)
	}
	anybody.refused(hub.CodeAdapterNotFound, "GET", "/v1/adapters/emacs", "")
	for _, at := range []string{"/v1/adapters", "/v1/adapters/codex"} {
		anybody.ok(200, "GET", at+"?search_path=/no/such%3A/usr/bin", "")
		anybody.refused(hub.CodeInvalid, "GET", at+"?search_path=bin", "")
		anybody.refused(hub.CodeInvalid, "GET", at+"?search_path=/"+strings.Repeat("x", api.MaxSearchPathBytes), "")
	}
	// The folders of a spool's programs say nothing of where the user's programs are.
	a.write(t, "later/kiro", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(filepath.Join(a.home, "later", "kiro"), 0o755))
	const kiro = "/v1/adapters/kiro?search_path="
	if got := anybody.ok(200, "GET", kiro+filepath.Join(a.home, "later"), "").row("detected"); got != true {
		t.Errorf("by the caller's PATH: %v", got)
	}
	if got := anybody.with("X-Hub-Relay", "spooled").ok(200, "GET", kiro+filepath.Join(a.home, "later"), "").row("detected"); got != false {
		t.Errorf("by the PATH of a spool: %v", got)
	}
	for _, last := range []string{"preview", "preview-uninstall", "install", "uninstall", "repair", "verify"} {
		anybody.refused(hub.CodeOperatorRequired, "POST", "/v1/adapters/codex/"+last, "{}")
		a.refused(hub.CodeAdapterNotFound, "POST", "/v1/adapters/emacs/"+last, "{}")
		a.refused(hub.CodeInvalid, "POST", "/v1/adapters/codex/"+last, `{"scope":"galaxy"}`)
		a.refused(hub.CodeInvalid, "POST", "/v1/adapters/codex/"+last, `{"scope":"global","path":"/x"}`)
		a.refused(hub.CodePathNotFound, "POST", "/v1/adapters/codex/"+last, `{"path":"/no/such/folder"}`)
		a.refused(hub.CodeInvalid, "POST", "/v1/adapters/codex/"+last, `{"search_path":"/usr/bin:."}`)
	}

	const at = "/v1/adapters/codex/"
	plan := a.ok(200, "POST", at+"preview", "{}")
	if !strings.Contains(plan.row("diff").(string), "[mcp_servers.hub]") {
		t.Errorf("diff %v", plan.row("diff"))
	}
	a.refused(hub.CodePlanChanged, "POST", at+"install", `{"confirm":"0000"}`)
	if done := a.confirmed(at+"install", `{"scope":"global"}`); done.row("changed") != true {
		t.Errorf("install %s", done.Result)
	}
	if again := a.ok(200, "POST", at+"install", "{}"); again.row("changed") != false {
		t.Errorf("installed twice: %s", again.Result)
	}
	var status hub.AppStatus
	if err := json.Unmarshal(anybody.ok(200, "GET", "/v1/app/status", "").Result, &status); err != nil || len(status.Adapters) != 1 {
		t.Errorf("status %+v, %v", status.Adapters, err)
	}
	a.write(t, ".codex/config.toml", "[mcp_servers.hub]\ncommand = \"mine\"\n")
	a.refused(hub.CodeAdapterConflict, "POST", at+"install", "{}")
	a.write(t, ".codex/hooks.json", "{")
	a.refused(hub.CodeAdapterRefused, "POST", at+"repair", "{}")
	a.write(t, ".codex/hooks.json", "{}")
	a.write(t, ".codex/config.toml", "")
	a.confirmed(at+"repair", `{"scope":"global"}`)
	a.ok(200, "POST", at+"preview-uninstall", "{}")
	a.confirmed(at+"uninstall", `{"scope":"global"}`)
}

// TestVerifyWhatDoesNotWork: a failed verification is a result and no error,
// and each harness has at most one verification at a time.
func TestVerifyWhatDoesNotWork(t *testing.T) {
	a := startAdapted(t, `echo "cannot" >&2; exit 1`)
	a.confirmed("/v1/adapters/kiro/install", `{"scope":"global"}`)
	var found hub.AdapterVerification
	if err := json.Unmarshal(a.ok(200, "POST", "/v1/adapters/kiro/verify", "{}").Result, &found); err != nil || found.OK || found.Running {
		t.Fatalf("verified %+v, %v", found, err)
	}
	failed := ""
	for _, check := range found.Checks {
		if check.Status == hub.CheckFailed {
			failed += check.Check + ": " + check.Detail + "\n"
		}
	}
	if !strings.Contains(failed, "bridge: ") || !strings.Contains(failed, "cannot") || !strings.Contains(failed, "hook session-start: ") {
		t.Errorf("failed:\n%s", failed)
	}

	a.write(t, "hubcli", "#!/bin/sh\nexec cat >/dev/null\n")
	running := func() bool {
		row, _ := a.ok(200, "GET", "/v1/adapters/kiro", "").row("verified").(map[string]any)
		return row["running"] == true
	}
	for deadline := time.Now().Add(time.Minute); ; {
		first, cancel := a.verifying(t.Context())
		for len(first) == 0 && !running() {
			if time.Now().After(deadline) {
				t.Fatal("the first verification does not show")
			}
		}
		second := a.call("POST", "/v1/adapters/kiro/verify", "{}")
		cancel()
		was := <-first
		if second.Code == hub.CodeAdapterBusy {
			if was.err != nil && !errors.Is(was.err, context.Canceled) {
				t.Errorf("the first ended with %v", was.err)
			}
			break
		}
		// On a slow machine the first verification may have ended already; then
		// the test proves nothing.
		if json.Unmarshal(second.Result, &found) != nil || was.err != nil || was.found.EndedAt == nil || *was.found.EndedAt > found.StartedAt || time.Now().After(deadline) {
			t.Fatalf("a second verification beside %+v: %+v", was, second)
		}
	}
	require.Eventually(t, "the end of a verification whose caller left", func() bool { return !running() })
}

// verified is how a verification ended.
type verified struct {
	found hub.AdapterVerification
	err   error
}

// verifying begins a verification of Kiro's adapter.
func (a *adapted) verifying(ctx context.Context) (ended <-chan *verified, cancel func()) {
	ctx, cancel = context.WithCancel(ctx)
	end := make(chan *verified, 1)
	go func() {
		v := &verified{}
		var r *http.Request
		if r, v.err = http.NewRequestWithContext(ctx, "POST", a.base+"/v1/adapters/kiro/verify", http.NoBody); v.err == nil {
			r.Header.Set("X-Hub-Operator", a.hub.Store.OperatorToken())
			var resp *http.Response
			if resp, v.err = a.http.Do(r); v.err == nil {
				var got struct{ Result *hub.AdapterVerification }
				got.Result = &v.found
				v.err = errors.Join(json.NewDecoder(resp.Body).Decode(&got), resp.Body.Close())
			}
		}
		end <- v
	}()
	return end, cancel
}

// TestNoAdapters: a hub may have none.
func TestNoAdapters(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h).with("X-Hub-Operator", h.Store.OperatorToken())
	if got := c.ok(200, "GET", "/v1/adapters", "").rows(); got != 0 {
		t.Errorf("%d adapters", got)
	}
	for _, last := range []string{"preview", "install", "verify"} {
		c.refused(hub.CodeAdapterNotFound, "POST", "/v1/adapters/codex/"+last, "{}")
	}
	c.refused(hub.CodeAdapterNotFound, "GET", "/v1/adapters/codex", "")
}
