package httpapi_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// TestHubWithoutCapsules says of each call for an export or an import that it was built without them.
func TestHubWithoutCapsules(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.Capsules = nil }))
	c := newClient(t, h).with(api.HeaderOperator, h.Store.OperatorToken())
	digest := `{"confirm":"` + strings.Repeat("0", 64) + `"}`
	for _, call := range [][3]string{
		{"POST", "/v1/capsules/export", `{"project":"shop","out":"/tmp/shop.hubpack","scope":"complete","privacy":"share_safe"}`},
		{"GET", "/v1/capsules/export/p1", ""},
		{"POST", "/v1/capsules/export/p1/confirm", digest},
		{"DELETE", "/v1/capsules/export/p1", ""},
		{"POST", "/v1/capsules/inspect", `{"path":"/tmp/shop.hubpack"}`},
		{"POST", "/v1/capsules/import", `{"path":"/tmp/shop.hubpack"}`},
		{"GET", "/v1/capsules/import/p1", ""},
		{"POST", "/v1/capsules/import/p1/confirm", digest},
		{"DELETE", "/v1/capsules/import/p1", ""},
	} {
		if a := c.refused(hub.CodeNotFound, call[0], call[1], call[2]); !strings.Contains(a.Error, "built without capsules") {
			t.Errorf("%s %s: %s", call[0], call[1], a.Error)
		}
	}
}
