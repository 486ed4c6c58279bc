package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/stress/wire"
)

// liar answers as a hub would that has what a keeper was told, spoiled by spoil.
func liar(k *keeper, spoil func(path, body string) string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body string
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/tasks/"):
			body = `{"ok":true,"result":{"status":"done"}}`
			if strings.HasSuffix(r.URL.Path, "/8") {
				body = `{"ok":true,"result":{"status":"open"}}`
			}
		case strings.HasPrefix(r.URL.Path, "/v1/artifacts/"):
			body = k.text(k.arts[0].n)
		case r.URL.Path == "/v1/memory":
			text, _ := json.Marshal(k.text(k.memory.n))
			body = fmt.Sprintf(`{"ok":true,"result":[{"text":%s}]}`, text)
		}
		_, _ = w.Write([]byte(spoil(r.URL.Path, body)))
	}))
}

// Each case is a lie about what a keeper was told.
func TestKeeperSeesBrokenPromises(t *testing.T) {
	for name, c := range map[string]struct {
		path, from, to string
		lie            bool
	}{
		"the truth":                        {},
		"a task that was ended is open":    {"/v1/tasks/7", "done", "open", true},
		"a task that was not ended is":     {"/v1/tasks/8", "open", "done", true},
		"an artifact has other content":    {"/v1/artifacts/a_1/content", "keeper", "Keeper", true},
		"an artifact is cut off":           {"/v1/artifacts/a_1/content", "/3 ", "/", true},
		"a memory is what it was before":   {"/v1/memory", "keeper/4", "keeper/3", true},
		"a memory is gone":                 {"/v1/memory", `"result":[`, `"other":[`, true},
		"a memory is what was being given": {"/v1/memory", "keeper/4", "keeper/4", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{
				name: "keeper", tasks: []*thing{{n: 1, id: "7", done: true}, {n: 5, id: "8"}},
				arts: []*thing{{kind: artifact, n: 3, id: "a_1"}}, memory: &thing{kind: memory, n: 4, id: "m_1"},
			}
			server := liar(k, func(path, body string) string {
				if path == c.path {
					return strings.Replace(body, c.from, c.to, 1)
				}
				return body
			})
			defer server.Close()
			addr := strings.TrimPrefix(server.URL, "http://")
			conn, err := wire.Dial(t.Context(), addr)
			require.NoError(t, err)
			defer conn.Close()
			if err := k.verify(conn, addr, true); errors.Is(err, errBroken) != c.lie || (err != nil) != c.lie {
				t.Errorf("verify: %v", err)
			}
		})
	}
}
