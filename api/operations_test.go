package api

import (
	"net/url"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestFindOperation: every path leads back to its operation and its parameter, and
// a constant segment goes before a parameter.
func TestFindOperation(t *testing.T) {
	for i := range operations() {
		op := &operations()[i]
		for _, value := range []string{"x", "a@b:c+d", "ä b"} {
			plain, err := url.PathUnescape(op.PathFor(value))
			require.NoError(t, err)
			if !strings.Contains(op.Path, "{") {
				value = ""
			}
			if got, param := FindOperation(op.Method, plain); got != op || param != value {
				t.Errorf("%s %s finds %v with %q, want %s with %q", op.Method, plain, got, param, op.ID, value)
			}
		}
	}
	for _, c := range []struct{ method, path, id, param string }{
		{"GET", "/v1/spawn/policy", "getSpawnPolicy", ""},
		{"HEAD", "/v1/spawn/sp_1", "getSpawn", "sp_1"},
		{"POST", "/v1/spawn/policy/stop", "stopSpawn", "policy"},
		{"DELETE", "/v1/sessions/resume", "closeSession", "resume"},
		{"GET", "/v1/threads/a/b/", "getThread", "a/b/"},
		{"GET", "/v1/threads//a", "getThread", "/a"},
	} {
		if op, param := FindOperation(c.method, c.path); op == nil || op.ID != c.id || param != c.param {
			t.Errorf("%s %s finds %v with %q", c.method, c.path, op, param)
		}
	}
}

func TestMethodsOfPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages":              "GET, HEAD, POST",
		"/v1/messages/7":            "GET, HEAD",
		"/v1/messages/":             "",
		"/v1/messages/7/":           "",
		"/v1/sessions":              "POST",
		"/v1/sessions/resume":       "DELETE, POST",
		"/v1/sessions/x":            "DELETE",
		"/v1/sessions/x/rename":     "POST",
		"/v1/tasks/3":               "GET, HEAD, POST",
		"/v1/tasks/3/complete":      "POST",
		"/v1/threads":               "GET, HEAD",
		"/v1/threads/":              "",
		"/v1/threads/a/b/c":         "GET, HEAD",
		"/v1/tool-surface":          "GET, HEAD, PUT",
		"/v1/spawn":                 "GET, HEAD, POST",
		"/v1/spawn/policy":          "GET, HEAD, PUT",
		"/v1/spawn/sp_1":            "GET, HEAD",
		"/v1/spawn/sp_1/stop":       "POST",
		"/v1/shutdown/cancel":       "POST",
		"/v1/shutdown/cancel/again": "",
		"/":                         "",
		"":                          "",
		"*":                         "",
		"/V1/messages":              "",
		"//v1/messages":             "",
	} {
		if got := strings.Join(Methods(path), ", "); got != want {
			t.Errorf("%q allows %q, want %q", path, got, want)
		}
	}
}
