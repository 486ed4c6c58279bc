package httpapi_test

import (
	"net/netip"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/hubfile"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestChallenges: a hub answers a nonce with a proof, for the address of the connection alone,
// and never through a relay, which calls on a connection of its own.
func TestChallenges(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	at := netip.MustParseAddrPort(strings.TrimPrefix(h.URL, "http://"))
	note, err := hubfile.Find(h.DataRoot, at)
	require.NoError(t, err)
	if note.InstanceID != h.Store.InstanceID() || note.Address != at {
		t.Errorf("the hub noted %+v", note)
	}
	const nonce = "0123456789abcdef"
	if got, _ := c.ok(200, "GET", "/v1/hub-info?nonce="+nonce, "").row("proof").(string); !note.Proves(got, nonce, at) {
		t.Errorf("the proof is %q", got)
	}
	for name, a := range map[string]any{
		"no nonce": c.ok(200, "GET", "/v1/hub-info", "").row("proof"), "an empty one": c.ok(200, "GET", "/v1/hub-info?nonce=", "").row("proof"),
		"a relay": c.with(api.HeaderRelay, "dev").ok(200, "GET", "/v1/hub-info?nonce="+nonce, "").row("proof"),
	} {
		if a != nil {
			t.Errorf("%s: the proof is %v", name, a)
		}
	}
	for _, bad := range []string{"short", strings.Repeat("a", 65), "0123456789abcde%0a", "0123456789abcde%20", nonce + "&nonce=" + nonce} {
		c.refused(hub.CodeInvalid, "GET", "/v1/hub-info?nonce="+bad, "")
	}
}
