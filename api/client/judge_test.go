package client_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

// TestVerdictsThatAreNotProved: a verdict counts only with the MAC of the hub whose token the
// asker can read, for the very body that was sent; whatever else a server says is an error.
func TestVerdictsThatAreNotProved(t *testing.T) {
	const token = "the operator's token"
	id, other := hub.AskID("ask_1"), hub.AskID("ask_2")
	allow := hub.Permission{Verdict: hub.PermissionAllow, By: "rule 1"}
	for name, tt := range map[string]struct {
		mac  func(nonce string, body []byte) string
		says hub.Permission
		ok   bool
	}{
		"proved":           {func(n string, b []byte) string { return api.VerdictMAC(token, n, sha256.Sum256(b), &allow) }, allow, true},
		"none":             {func(string, []byte) string { return "" }, allow, false},
		"of another token": {func(n string, b []byte) string { return api.VerdictMAC("x", n, sha256.Sum256(b), &allow) }, allow, false},
		"of no token":      {func(n string, b []byte) string { return api.VerdictMAC("", n, sha256.Sum256(b), &allow) }, allow, false},
		"of another body":  {func(n string, b []byte) string { return api.VerdictMAC(token, n, sha256.Sum256(b[1:]), &allow) }, allow, false},
		"of another nonce": {func(n string, b []byte) string { return api.VerdictMAC(token, n+"x", sha256.Sum256(b), &allow) }, allow, false},
		"of another verdict": {func(n string, b []byte) string {
			return api.VerdictMAC(token, n, sha256.Sum256(b), &hub.Permission{Verdict: hub.PermissionNone})
		}, allow, false},
		"of another question": {func(n string, b []byte) string {
			return api.VerdictMAC(token, n, sha256.Sum256(b), &hub.Permission{Verdict: hub.PermissionAsk, AskID: &other})
		}, hub.Permission{Verdict: hub.PermissionAsk, AskID: &id, WaitSec: 20}, false},
	} {
		t.Run(name, func(t *testing.T) {
			nonces := map[string]bool{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				var sent struct{ Nonce string }
				require.NoError(t, json.Unmarshal(body, &sent))
				nonces[sent.Nonce] = true
				p := tt.says
				p.MAC = tt.mac(sent.Nonce, body)
				row, err := json.Marshal(p)
				require.NoError(t, err)
				w.Header().Set("Content-Type", api.ContentType)
				_, _ = io.WriteString(w, `{"ok":true,"result":`+string(row)+`}`)
			}))
			defer server.Close()
			c := client.New(client.Config{BaseURL: server.URL})
			defer c.Close()
			j := c.Judge(func() (string, error) { return token, nil })
			command := "a <b> & c" // letters that JSON may write in two ways
			p, err := j.RequestPermission(t.Context(), hub.PermissionInput{AgentID: "dev", Tool: "Bash", Command: &command})
			if (err == nil) != tt.ok || !tt.ok && p != (hub.Permission{}) {
				t.Errorf("the verdict is %+v, %v", p, err)
			}
			p, err = j.AwaitPermission(t.Context(), id, hub.PermissionWaitInput{AgentID: "dev", WaitSec: 1})
			if (err == nil) != tt.ok || !tt.ok && p != (hub.Permission{}) {
				t.Errorf("the verdict waited for is %+v, %v", p, err)
			}
			if len(nonces) != 2 {
				t.Errorf("the nonces are %v", nonces)
			}
			none := errors.New("no token here")
			j = c.Judge(func() (string, error) { return "", none })
			if p, err := j.RequestPermission(t.Context(), hub.PermissionInput{AgentID: "dev", Tool: "Bash"}); !errors.Is(err, none) || p != (hub.Permission{}) {
				t.Errorf("without a token: %+v, %v", p, err)
			}
			if len(nonces) != 2 {
				t.Error("without a token the server was asked")
			}
		})
	}
}
