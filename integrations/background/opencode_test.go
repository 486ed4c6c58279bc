package background

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestOpenCodeAddress: only an address of this machine counts.
func TestOpenCodeAddress(t *testing.T) {
	for line, want := range map[string]string{
		"opencode server listening on http://127.0.0.1:4096\n": "http://127.0.0.1:4096",
		"opencode server listening on http://10.0.0.1:4096\n":  "",
		"listening on http://127.0.0.1:4096@example.com\n":     "",
		"listening on http://127.0.0.1:\n":                     "",
		"Performing one time database migration":               "",
	} {
		if got, found := OpenCodeAddress(line); got != want || found != (want != "") {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestOpenCodeSession: a session is made or taken up with the password, its MCP servers begin,
// and a text begins its turn.
func TestOpenCodeSession(t *testing.T) {
	var calls []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		text, _ := json.Marshal(in)
		calls = append(calls, r.Method+" "+r.URL.Path+" "+string(text))
		if user, password, _ := r.BasicAuth(); user != "opencode" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"id":"ses_1"}`))
	}))
	defer s.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	c := &OpenCode{Address: s.URL, Password: "secret"}
	id, err := c.Begin(t.Context(), "")
	require.NoError(t, err)
	_, err = c.Begin(t.Context(), "ses/0")
	require.NoError(t, err)
	require.NoError(t, c.Prompt(t.Context(), id, "go"))
	want := []string{
		"POST /session {}", "GET /mcp null", "GET /session/ses/0 null", "GET /mcp null",
		`POST /session/ses_1/prompt_async {"parts":[{"text":"go","type":"text"}]}`,
	}
	if !slices.Equal(calls, want) {
		t.Errorf("it is asked\n%s", strings.Join(calls, "\n"))
	}
	c.Password = "wrong"
	if _, err := c.Begin(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with another password: %v", err)
	}
}

// TestOpenCodeAnswersNonsense: what is no answer is an error.
func TestOpenCodeAnswersNonsense(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":""}`, `<html>`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
		if id, err := (&OpenCode{Address: s.URL}).Begin(t.Context(), ""); err == nil {
			t.Errorf("%q is session %q", text, id)
		}
		s.Close()
	}
}
