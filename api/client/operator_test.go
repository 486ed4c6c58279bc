package client_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
)

const storeMarker = "hubcli store\nformat 1\ninstance abc\ncrc32c 00000000\n"

// storeFolder makes what a client reads of a store.
func storeFolder(t *testing.T, marker, token string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"FORMAT": marker, "operator.token": token} {
		if content == "" {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func infoOf(dir string) http.HandlerFunc {
	return says(200, `{"ok":true,"result":{"instance_id":"abc","storage_path":"`+filepath.ToSlash(dir)+`"}}`)
}

func TestTheTokenGoesToOperatorCallsOnly(t *testing.T) {
	dir := storeFolder(t, storeMarker, "s3cret\n")
	h := newFakeHub(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/hub-info":
			infoOf(dir)(w, r)
		case r.URL.Path == "/v1/agents":
			says(200, `{"ok":true,"result":[]}`)(w, r)
		default:
			says(200, `{"ok":true,"result":{"pending":true,"delay_sec":0}}`)(w, r)
		}
	})
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
	shown := 0
	for _, r := range h.requests() {
		want := ""
		if strings.HasPrefix(r.uri, "/v1/shutdown") {
			want = "s3cret"
			shown++
		}
		if got := r.header.Get("X-Hub-Operator"); got != want {
			t.Errorf("%s %s carries the token %q, want %q", r.method, r.uri, got, want)
		}
		if got := r.header.Get("X-Hub-Session"); got != "sid.secret" {
			t.Errorf("%s %s carries the session %q", r.method, r.uri, got)
		}
	}
	if shown != 3 {
		t.Errorf("%d operator calls, want 3", shown)
	}
	if got := h.requests()[1]; got.body != `{"delay_sec":0}` {
		t.Errorf("shutdown was sent as %s", got.body)
	}
}

// TestNoToken: in each of these cases nothing is sent to an operator path.
func TestNoToken(t *testing.T) {
	link := storeFolder(t, storeMarker, "")
	require.NoError(t, os.Symlink(filepath.Join(storeFolder(t, "", "stolen"), "operator.token"), filepath.Join(link, "operator.token")))
	folder := storeFolder(t, storeMarker, "")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "operator.token"), 0o700))
	for name, dir := range map[string]string{
		"no folder":          filepath.Join(t.TempDir(), "gone"),
		"no marker":          storeFolder(t, "", "t"),
		"no token":           storeFolder(t, storeMarker, ""),
		"an empty token":     storeFolder(t, storeMarker, " \n"),
		"two lines":          storeFolder(t, storeMarker, "a\nb\n"),
		"a header's end":     storeFolder(t, storeMarker, "a\r\nX: y"),
		"too long":           storeFolder(t, storeMarker, strings.Repeat("x", 5000)),
		"another instance":   storeFolder(t, "hubcli store\nformat 1\ninstance other\n", "t"),
		"another marker":     storeFolder(t, "something\ninstance abc\n", "t"),
		"a marker of no one": storeFolder(t, "hubcli store\nformat 1\n", "t"),
		"a link":             link,
		"a folder":           folder,
		"no absolute path":   "store",
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, infoOf(dir))
			_, err := h.client(t, nil).Shutdown(t.Context(), hub.ShutdownInput{})
			got := hubError(t, err, hub.CodeOperatorRequired)
			if got.Status != 403 || got.Fix == "" || strings.Contains(got.Message, "s3cret") {
				t.Errorf("error = %+v", got)
			}
			for _, r := range h.requests() {
				if r.uri != "/v1/hub-info" {
					t.Errorf("%s was called", r.uri)
				}
			}
		})
	}
}

func TestNoTokenForAnotherMachine(t *testing.T) {
	c := client.New(client.Config{
		BaseURL: "http://192.0.2.1:6969",
		OperatorToken: func(context.Context, hub.Info) (string, error) {
			t.Error("the token was looked for")
			return "t", nil
		},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			t.Errorf("%s was called", r.URL)
			return nil, http.ErrHandlerTimeout
		}),
	})
	_, err := c.Shutdown(t.Context(), hub.ShutdownInput{})
	hubError(t, err, hub.CodeOperatorRequired)
}
