package httpapi_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/integrations/license"
	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// licensed is a hub with a license server, called as its operator.
type licensed struct {
	*client
	hub    *testhub.Hub
	server *licenseserver.Server
	dir    string
}

const plantedKey = "KEY-4711-PLANTED"

func startLicensed(t *testing.T) *licensed {
	t.Helper()
	l := &licensed{server: licenseserver.Start(), dir: t.TempDir()}
	t.Cleanup(l.server.Close)
	l.server.Add(licenseserver.License{Key: plantedKey, Max: 2})
	l.hub = testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.Licenses = license.New(license.Options{Dir: l.dir}) }))
	l.client = newClient(t, l.hub).with("X-Hub-Operator", l.hub.Store.OperatorToken())
	return l
}

func (l *licensed) configure() {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(filepath.Join(l.dir, "config.json"), []byte(l.server.Config()), 0o600))
}

const (
	activatePath   = "/v1/license/activate"
	deactivatePath = "/v1/license/deactivate"
	verifyPath     = "/v1/license/verify"
)

// confirming asks for the plan of a change and returns the body that confirms it.
func (l *licensed) confirming(path, key string) string {
	l.t.Helper()
	body := "{}"
	if key != "" {
		body = fmt.Sprintf(`{"key":%q}`, key)
	}
	asked := l.refused(hub.CodeConfirmRequired, "POST", path, body)
	digest, _ := asked.Detail["digest"].(string)
	if asked.Detail["prompt"] == "" || digest == "" || strings.Contains(fmt.Sprint(asked.Detail), "PLANTED") {
		l.t.Errorf("%s asks %+v", path, asked.Detail)
	}
	return strings.TrimSuffix(body, "}") + map[bool]string{true: "", false: ","}[body == "{}"] + `"confirm":"` + digest + `"}`
}

// TestLicense: what each operation does, who may call it, and every code that it answers.
func TestLicense(t *testing.T) {
	l := startLicensed(t)
	anybody := newClient(t, l.hub)
	anybody.refused(hub.CodeOperatorRequired, "GET", "/v1/license", "")
	for _, path := range []string{verifyPath, activatePath, deactivatePath} {
		anybody.refused(hub.CodeOperatorRequired, "POST", path, "{}")
	}
	if a := l.ok(200, "GET", "/v1/license", ""); a.row("state") != "unlicensed" || a.row("expires_at") != nil {
		t.Errorf("%+v", a)
	}
	l.refused(hub.CodeInvalid, "POST", activatePath, "{}")
	l.refused(hub.CodeInvalid, "POST", activatePath, `{"key":"`+strings.Repeat("x", 5000)+`"}`)
	l.refused(hub.CodeInvalid, "POST", activatePath, `{"key":"x","confirm":"`+strings.Repeat("x", 500)+`"}`)
	l.refused(hub.CodeLicenseUnconfigured, "POST", activatePath, `{"key":"x"}`)
	l.refused(hub.CodeLicenseNotActive, "POST", deactivatePath, "{}")
	l.refused(hub.CodeLicenseNotActive, "POST", verifyPath, "")
	l.configure()
	l.refusals()

	l.refused(hub.CodePlanChanged, "POST", activatePath, `{"key":"`+plantedKey+`","confirm":"x"}`)
	if a := l.ok(200, "POST", activatePath, l.confirming(activatePath, plantedKey)); a.row("state") != "active" || a.row("renew_at") == nil {
		t.Errorf("%+v", a)
	}
	if a := l.ok(200, "GET", "/v1/license", ""); a.row("state") != "active" || a.row("key_in") != "file" {
		t.Errorf("%+v", a)
	}
	if a := l.ok(200, "POST", verifyPath, ""); a.row("valid") != true || a.row("verdict") != "valid" {
		t.Errorf("%+v", a)
	}
	l.refused(hub.CodeLicenseActive, "POST", activatePath, `{"key":"another"}`)
	l.afterwards()
	l.refused(hub.CodePlanChanged, "POST", deactivatePath, `{"confirm":"x"}`)
	if a := l.ok(200, "POST", deactivatePath, l.confirming(deactivatePath, "")); a.row("state") != "unlicensed" {
		t.Errorf("%+v", a)
	}
	if got := l.server.Complaints(); len(got) > 0 {
		t.Errorf("complaints: %q", got)
	}
}

// refusals makes the server refuse and lie while nothing is active.
func (l *licensed) refusals() {
	past := time.Now().Add(-time.Hour)
	for code, row := range map[hub.Code]licenseserver.License{
		hub.CodeLicenseExpired: {Expiry: &past}, hub.CodeLicenseSuspended: {Status: "SUSPENDED"}, hub.CodeLicenseRevoked: {Status: "BANNED"},
		hub.CodeLicenseRefused: {Product: "another"}, hub.CodeLicenseMachineLimit: {Max: -1},
	} {
		row.Key = "refused"
		l.server.Add(row)
		l.refused(code, "POST", activatePath, l.confirming(activatePath, "refused"))
	}
	l.refused(hub.CodeLicenseNotFound, "POST", activatePath, l.confirming(activatePath, "unknown"))
	for lie, code := range map[string]hub.Code{"failing": hub.CodeLicenseServerFailed, "cut": hub.CodeLicenseUnreachable, "wrong-signature": hub.CodeLicenseNotGenuine} {
		l.server.Lie("validate-key", lie)
		l.refused(code, "POST", activatePath, l.confirming(activatePath, plantedKey))
	}
	l.server.Lie("", "")
	l.server.Lie("validate-key", "busy")
	if a := l.refused(hub.CodeLicenseServerFailed, "POST", activatePath, l.confirming(activatePath, plantedKey)); a.header.Get("Retry-After") != "17" {
		l.t.Errorf("%+v", a)
	}
	l.server.Lie("", "")
	state := filepath.Join(l.dir, "state.json")
	require.NoError(l.t, os.WriteFile(state, []byte("{"), 0o600))
	for _, path := range []string{verifyPath, deactivatePath} {
		l.refused(hub.CodeLicenseUnreadable, "POST", path, "{}")
	}
	l.refused(hub.CodeLicenseUnreadable, "POST", activatePath, `{"key":"x"}`)
	require.NoError(l.t, os.Remove(state))
}

// afterwards makes the server refuse and lie about a license that is active.
func (l *licensed) afterwards() {
	for lie, code := range map[string]hub.Code{"failing": hub.CodeLicenseServerFailed, "cut": hub.CodeLicenseUnreachable, "unsigned": hub.CodeLicenseNotGenuine} {
		l.server.Lie("", lie)
		l.refused(code, "POST", verifyPath, "")
		l.refused(code, "POST", deactivatePath, l.confirming(deactivatePath, ""))
	}
	l.server.Lie("", "")
	past := time.Now().Add(-time.Hour)
	for code, row := range map[hub.Code]licenseserver.License{
		hub.CodeLicenseExpired: {Expiry: &past}, hub.CodeLicenseSuspended: {Status: "SUSPENDED"},
	} {
		row.Key = plantedKey
		row.Max = 2
		l.server.Add(row)
		l.refused(code, "POST", deactivatePath, l.confirming(deactivatePath, ""))
		if a := l.ok(200, "POST", verifyPath, ""); a.row("valid") != false {
			l.t.Errorf("%+v", a)
		}
	}
	l.server.Add(licenseserver.License{Key: plantedKey, Max: 2})
	for _, path := range []string{activatePath, deactivatePath} {
		key := map[string]string{activatePath: plantedKey}[path]
		body := l.confirming(path, key)
		var second answer
		l.server.Before(func(*http.Request) {
			l.server.Before(nil)
			second = l.call("POST", path, body)
		})
		l.server.Lie("", "unsigned")
		l.refused(hub.CodeLicenseNotGenuine, "POST", path, body)
		l.server.Lie("", "")
		if second.Code != hub.CodeLicenseBusy {
			l.t.Errorf("a second call at the same time: %+v", second)
		}
	}
	config := filepath.Join(l.dir, "config.json")
	require.NoError(l.t, os.Rename(config, config+".away"))
	l.refused(hub.CodeLicenseUnconfigured, "POST", verifyPath, "")
	l.refused(hub.CodeLicenseUnconfigured, "POST", deactivatePath, "{}")
	if a := l.ok(200, "GET", "/v1/license", ""); a.row("state") != "unverified" {
		l.t.Errorf("%+v", a)
	}
	require.NoError(l.t, os.Rename(config+".away", config))
}

// TestNoLicense: a hub without a data root says so, and works.
func TestNoLicense(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h).with("X-Hub-Operator", h.Store.OperatorToken())
	if a := c.ok(200, "GET", "/v1/license", ""); a.row("state") != "unlicensed" {
		t.Errorf("%+v", a)
	}
	c.refused(hub.CodeLicenseUnconfigured, "POST", verifyPath, "")
	c.refused(hub.CodeLicenseUnconfigured, "POST", activatePath, `{"key":"x"}`)
	c.refused(hub.CodeLicenseUnconfigured, "POST", deactivatePath, "{}")
}
