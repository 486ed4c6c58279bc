package client_test

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// shuttingDown answers all that a test calls.
func shuttingDown(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/agents" {
		says(200, `{"ok":true,"result":[]}`)(w, r)
		return
	}
	says(200, `{"ok":true,"result":{"pending":true,"delay_sec":0}}`)(w, r)
}

// TestTheTokenGoesOverTheSocketOnly, and in operator calls only.
func TestTheTokenGoesOverTheSocketOnly(t *testing.T) {
	h := newFakeHub(t, shuttingDown)
	h.noted(t)
	c := h.client(t, func(cfg *client.Config) { cfg.Session = "sid.secret" })
	now := 0.0
	if got, err := c.Shutdown(t.Context(), hub.ShutdownInput{DelaySec: &now}); err != nil || !got.Pending {
		t.Fatalf("Shutdown = %+v, %v", got, err)
	}
	if _, err := c.ShutdownState(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CancelShutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AppStatus(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AsOperator().AppStatus(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, r := range h.requests() {
		token := r.header.Get("X-Hub-Operator")
		if r.socket != (token == testhub.FakeToken) || !r.socket && token != "" {
			t.Errorf("%s %s over the socket: %v, with the token %q", r.method, r.uri, r.socket, token)
		}
		if strings.HasPrefix(r.uri, "/v1/shutdown") && !r.socket {
			t.Errorf("%s %s went to the port", r.method, r.uri)
		}
		if r.socket {
			shown++
		} else if got := r.header.Get("X-Hub-Session"); got != "sid.secret" {
			t.Errorf("%s %s carries the session %q", r.method, r.uri, got)
		}
	}
	if shown != 4 {
		t.Errorf("%d operator calls, want 4", shown)
	}
	if got := h.requests()[0]; got.body != `{"delay_sec":0}` {
		t.Errorf("shutdown was sent as %s", got.body)
	}
}

// TestNoToken: in each of these cases nothing is sent over the socket, and no token to the
// port.
func TestNoToken(t *testing.T) {
	marker := func(text string) func(*testing.T, string) {
		return func(t *testing.T, store string) {
			require.NoError(t, os.WriteFile(filepath.Join(store, "FORMAT"), []byte(text), 0o600))
		}
	}
	token := func(text string) func(*testing.T, string) {
		return func(t *testing.T, store string) {
			require.NoError(t, os.WriteFile(filepath.Join(store, "operator.token"), []byte(text), 0o600))
		}
	}
	gone := func(name string) func(*testing.T, string) {
		return func(t *testing.T, store string) { require.NoError(t, os.RemoveAll(filepath.Join(store, name))) }
	}
	for name, change := range map[string]func(t *testing.T, store string){
		"no folder":          gone(""),
		"no marker":          gone("FORMAT"),
		"no token":           gone("operator.token"),
		"no socket":          gone("op.sock"),
		"an empty token":     token(" \n"),
		"two lines":          token("a\nb\n"),
		"a header's end":     token("a\r\nX: y"),
		"too long":           token(strings.Repeat("x", 5000)),
		"another instance":   marker("hubcli store\nformat 1\ninstance other\n"),
		"another marker":     marker("something\ninstance abc\n"),
		"a marker of no one": marker("hubcli store\nformat 1\n"),
		"a link": func(t *testing.T, store string) {
			other := filepath.Join(t.TempDir(), "stolen")
			require.NoError(t, os.WriteFile(other, []byte("stolen"), 0o600))
			gone("operator.token")(t, store)
			require.NoError(t, os.Symlink(other, filepath.Join(store, "operator.token")))
		},
		"a folder": func(t *testing.T, store string) {
			gone("operator.token")(t, store)
			require.NoError(t, os.Mkdir(filepath.Join(store, "operator.token"), 0o700))
		},
		"an open folder": func(t *testing.T, store string) {
			if runtime.GOOS == "windows" {
				t.Skip("needs a system on which rights are set for each file; here rights are inherited from the folder of the user")
			}
			require.NoError(t, os.Chmod(store, 0o711))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, shuttingDown)
			change(t, h.noted(t).Note.Store)
			_, err := h.client(t, nil).Shutdown(t.Context(), hub.ShutdownInput{})
			got := hubError(t, err, hub.CodeOperatorRequired)
			if got.Status != 403 || got.Fix == "" || strings.Contains(got.Message, testhub.FakeToken) {
				t.Errorf("error = %+v", got)
			}
			for _, r := range h.requests() {
				if r.socket || r.header.Get("X-Hub-Operator") != "" || r.uri != "/v1/hub-info" {
					t.Errorf("%s was called over the socket: %v", r.uri, r.socket)
				}
			}
		})
	}
}

// TestNoHubIsKnown at the address: the operator's calls go nowhere, whatever the port says.
func TestNoHubIsKnown(t *testing.T) {
	h := newFakeHub(t, shuttingDown)
	other := testhub.NewFake(t, "http://127.0.0.1:1", h)
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot = other.DataRoot })
	_, err := c.Shutdown(t.Context(), hub.ShutdownInput{})
	if got := hubError(t, err, hub.CodeOperatorRequired); !strings.Contains(got.Fix, "HUB_DATA_ROOT") {
		t.Errorf("the fix is %q", got.Fix)
	}
	for _, r := range h.requests() {
		if r.header.Get("X-Hub-Operator") != "" || r.uri != "/v1/hub-info" {
			t.Errorf("%s was called", r.uri)
		}
	}
}

// TestAnOperatorIsToldWhatHasThePort, where the hub does not have its socket any more.
func TestAnOperatorIsToldWhatHasThePort(t *testing.T) {
	h := newFakeHub(t, shuttingDown)
	f := testhub.NewFake(t, h.URL, nil) // no socket, and no proof
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot = f.DataRoot })
	_, err := c.Shutdown(t.Context(), hub.ShutdownInput{})
	hubError(t, err, hub.CodeImpostor)
	h.Close()
	_, err = c.Shutdown(t.Context(), hub.ShutdownInput{})
	hubError(t, err, hub.CodeUnreachable)
}

func TestNoTokenForAnotherMachine(t *testing.T) {
	f := testhub.NewFake(t, "http://192.0.2.1:6969", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was called over the socket", r.URL)
	}))
	c := client.New(client.Config{
		BaseURL: "http://192.0.2.1:6969", DataRoot: f.DataRoot,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			t.Errorf("%s was called", r.URL)
			return nil, http.ErrHandlerTimeout
		}),
	})
	_, err := c.Shutdown(t.Context(), hub.ShutdownInput{})
	hubError(t, err, hub.CodeOperatorRequired)
}

// TestTheOperatorFindsTheHubByEachOfItsNames.
func TestTheOperatorFindsTheHubByEachOfItsNames(t *testing.T) {
	h := newFakeHub(t, shuttingDown)
	f := h.noted(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(h.URL, "http://"), ":")
	for _, base := range []string{"http://localhost:" + port, "http://LOCALHOST:" + port + "/", "http://127.0.0.1:" + port + "/prefix", "https://127.0.0.1:" + port} {
		c := client.New(client.Config{BaseURL: base, DataRoot: f.DataRoot})
		t.Cleanup(c.Close)
		if _, err := c.ShutdownState(t.Context()); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	for _, r := range h.requests() {
		if !r.socket || r.uri != "/v1/shutdown" {
			t.Errorf("%s was called over the socket: %v", r.uri, r.socket)
		}
	}
}
