package httpapi_test

import (
	"context"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// machine is one with a browser engine.
type machine struct{}

func (machine) BrowserEngines(ctx context.Context) ([]hub.BrowserEngine, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, hub.NewError(hub.CodeInternal, "the look has no end")
	}
	return []hub.BrowserEngine{{Preference: 1, Kind: hub.BrowserChromium, Path: "/usr/bin/chromium", Version: "156.0.8078.108", Source: "system", Usable: true}}, nil
}

// TestBrowserEngines: the operator is told which engines there are, and nobody else.
func TestBrowserEngines(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.Browsers = machine{} }))
	anybody := newClient(t, h)
	operator := anybody.with("X-Hub-Operator", h.Store.OperatorToken())
	if got := operator.ok(200, "GET", "/v1/browser/engines", "").rows(); got != 1 {
		t.Errorf("%d engines, want 1", got)
	}
	anybody.refused(hub.CodeOperatorRequired, "GET", "/v1/browser/engines", "")
}

// TestNoBrowserEngines: a hub may look for none.
func TestNoBrowserEngines(t *testing.T) {
	h := testhub.Start(t)
	operator := newClient(t, h).with("X-Hub-Operator", h.Store.OperatorToken())
	if got := operator.ok(200, "GET", "/v1/browser/engines", "").rows(); got != 0 {
		t.Errorf("%d engines, want none", got)
	}
}
