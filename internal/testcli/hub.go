package testcli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hubcli/internal/testport"
)

// scripted is a hub that answers each path with the next of its answers, the
// last one for ever.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex
	Asked []string // method, path and query, session
}

// HubOf serves answers by "METHOD /path"; what is not there is 404.
func HubOf(t *testing.T, answers map[string][]string) *scripted {
	t.Helper()
	s := &scripted{}
	served := map[string]int{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.Asked = append(s.Asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Hub-Session"), body)))
		key := r.Method + " " + r.URL.Path
		list := answers[key]
		w.Header().Set("Content-Type", "application/json")
		if len(list) == 0 {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"ok":false,"error":"there is no such path","code":"not_found","status":404,"detail":{},"fix":""}`)
			return
		}
		answer := list[min(served[key], len(list)-1)]
		served[key]++
		if strings.Contains(answer, `"ok":false`) {
			w.WriteHeader(400)
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// FreeTCPPort returns a port at which nothing listens.
func FreeTCPPort(t *testing.T) string {
	t.Helper()
	port, err := testport.Take()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// StopPayload is what a harness tells its hook when a turn ends.
const StopPayload = `{"session_id":"s","turn_id":"t","cwd":"/"}`
