package forwarder

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testport"
	"hubcli/relay"
)

// standIn is a server in the hub's place.
func standIn(t *testing.T, handle http.HandlerFunc) string {
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func success(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(201)
	_, _ = io.WriteString(w, `{"ok":true,"result":{}}`)
}

func refuses(w http.ResponseWriter, status int, code hub.Code) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"ok":false,"error":"no","code":%q,"status":%d,"detail":{},"fix":""}`, code, status)
}

// TestWhatTheHubGets: the forwarder sets all headers; none comes from the file.
func TestWhatTheHubGets(t *testing.T) {
	got := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	b := newBench(t, standIn(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- string(text)
		success(w)
	}))
	b.forward(nil)
	b.put("dev_a", "r1.json", []byte(`{"request_id":"r1","agent_id":"dev@a","method":"POST","path":"/v1/tasks/7?x=%41","body":{"b":"<ä>"},
		"headers":{"X-Hub-Operator":"x"},"session_id":"s","idempotency_key":"k"}`))
	r, text := <-got, <-bodies
	want := map[string]string{
		api.HeaderRelay: "dev@a", api.HeaderIdempotency: "r1", "Content-Type": "application/json", "Accept": "application/json",
		"Content-Length": "12", "User-Agent": "Go-http-client/1.1",
	}
	if len(r.Header) != len(want) {
		t.Errorf("headers %v", r.Header)
	}
	for name, value := range want {
		if r.Header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), value)
		}
	}
	if r.Method != "POST" || r.RequestURI != "/v1/tasks/7?x=%41" || text != `{"b":"<ä>"}` {
		t.Errorf("%s %s %s", r.Method, r.RequestURI, text)
	}
	b.answer("dev_a", "r1")
	b.ask("dev-a", "GET", "/v1/hub-info", "")
	r, text = <-got, <-bodies
	if r.Header.Get(api.HeaderIdempotency) != "" || r.Header.Get("Content-Type") != "" || text != "" {
		t.Errorf("a read has the headers %v and the body %q", r.Header, text)
	}
}

// TestNoHub: the client learns that no hub answers, and whether its call may
// have had an effect.
func TestNoHub(t *testing.T) {
	port, err := testport.Take()
	require.NoError(t, err)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	b := newBench(t, url)
	b.forward(func(c *Config) { c.RequestTimeout = 2 * time.Second })
	e := b.wants(relay.StatusHubUnreachable, hub.CodeUnreachable, "dev-a", "POST", "/v1/messages", `{}`)
	if !strings.Contains(e.Error, url) || e.Detail["outcome"] != nil || e.Fix == "" {
		t.Errorf("%+v", e)
	}
}

// refusing refuses the connection, but only when the call's time is over.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// TestNoHubIsKnownLate: a refused connection is reported as such even if the
// refusal takes all the time of the call.
func TestNoHubIsKnownLate(t *testing.T) {
	b := newBench(t, "http://127.0.0.1:1")
	b.forward(func(c *Config) { c.RequestTimeout, c.Transport = time.Second, refusing{} })
	e := b.wants(relay.StatusHubUnreachable, hub.CodeUnreachable, "dev-a", "POST", "/v1/messages", `{}`)
	if e.Detail["outcome"] != nil {
		t.Errorf("%+v", e)
	}
}

// TestRestartOfTheHubIsNotNoticed: a call during a restart of the hub is
// answered, once.
func TestRestartOfTheHubIsNotNoticed(t *testing.T) {
	var lost atomic.Int64
	keys := make(chan string, 100)
	b := newBench(t, standIn(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get(api.HeaderIdempotency)
		switch lost.Add(1) {
		case 1: // it dies with the call
			panic(http.ErrAbortHandler)
		case 2: // it stops
			refuses(w, 503, hub.CodeStopping)
		case 3: // the previous call is still under way
			refuses(w, 409, hub.CodeInProgress)
		case 4:
			w.Header().Set("Retry-After", "1")
			refuses(w, 503, hub.CodeOverloaded)
		default:
			success(w)
		}
	}))
	b.forward(nil)
	id := b.ask("dev-a", "POST", "/v1/messages", `{}`)
	if r, _ := b.answer("dev-a", id); r.Status != 201 {
		t.Errorf("%+v", r)
	}
	for len(keys) > 0 {
		if key := <-keys; key != string(id) {
			t.Errorf("sent with the key %q, want %q", key, id)
		}
	}
	if n := lost.Load(); n < 5 {
		t.Errorf("sent %d times", n)
	}
}

// TestUnknownOutcome: if the hub may have done the call, the client learns so.
func TestUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		what, method, path string
		handle             http.HandlerFunc
		status             int
		unknown            bool
	}{
		{"broken off write", "POST", "/v1/messages", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, relay.StatusHubUnreachable, true},
		{"broken off read", "GET", "/v1/agents", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, relay.StatusHubUnreachable, false},
		{"silent write", "POST", "/v1/messages", func(_ http.ResponseWriter, r *http.Request) { silent(r) }, relay.StatusNoAnswer, true},
		{"silent read", "GET", "/v1/agents", func(_ http.ResponseWriter, r *http.Request) { silent(r) }, relay.StatusNoAnswer, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, standIn(t, c.handle))
			b.forward(func(c *Config) { c.RequestTimeout = 2 * time.Second })
			id := b.ask("dev-a", c.method, c.path, "")
			r, e := b.answer("dev-a", id)
			if r.Status != c.status || (e.Detail["outcome"] == "unknown") != c.unknown || e.Detail["request_id"] != string(id) || r.Error != e.Error {
				t.Errorf("%+v", e)
			}
		})
	}
}

// silent sends no answer until the caller has gone.
func silent(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestNotAHub: the answer of another server is not passed on, and no redirect
// is followed.
func TestNotAHub(t *testing.T) {
	var elsewhere atomic.Bool
	target := standIn(t, func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Store(true)
		success(w)
	})
	for what, handle := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		},
		"page": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"other JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"hello":1}`)
		},
		"half JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true,"result":`)
		},
		"flood": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			chunk := make([]byte, 1<<20)
			for range maxAnswerBytes>>20 + 1 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, standIn(t, handle))
			b.forward(nil)
			e := b.wants(relay.StatusHubUnreachable, hub.CodeUnreachable, "dev-a", "POST", "/v1/messages", `{}`)
			if !strings.Contains(e.Error, "not a hub") || e.Fix == "" {
				t.Errorf("%+v", e)
			}
		})
	}
	if elsewhere.Load() {
		t.Error("the redirect was followed")
	}
}
