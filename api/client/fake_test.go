package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// seen is one request as a fake hub got it.
type seen struct {
	socket bool // it came over the operator's socket
	method string
	uri    string
	header http.Header
	body   string
}

// fakeHub answers with a list of answers in turn, the last one for ever, and
// remembers what it was asked.
type fakeHub struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []seen
	answers []http.HandlerFunc
	known   *testhub.Fake // nil: it is no hub of this user
}

func newFakeHub(t *testing.T, answers ...http.HandlerFunc) *fakeHub {
	t.Helper()
	h := &fakeHub{answers: answers}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	if known := h.known; known.Prove(w, r) {
		h.mu.Unlock()
		return
	}
	_, socket := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	h.seen = append(h.seen, seen{socket, r.Method, r.RequestURI, r.Header.Clone(), string(body)})
	answer := h.answers[min(len(h.seen), len(h.answers))-1]
	h.mu.Unlock()
	answer(w, r)
}

func (h *fakeHub) requests() []seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]seen(nil), h.seen...)
}

// noted makes it a hub of this user: it proves itself, and has a socket for the operator.
func (h *fakeHub) noted(t *testing.T) *testhub.Fake {
	t.Helper()
	known := testhub.NewFake(t, h.URL, h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = known
	return known
}

// client returns a client of the fake hub that leaves no connection behind.
func (h *fakeHub) client(t *testing.T, change func(*client.Config)) *client.Client {
	t.Helper()
	cfg := client.Config{BaseURL: h.URL}
	if h.known != nil {
		cfg.DataRoot = h.known.DataRoot
	}
	if change != nil {
		change(&cfg)
	}
	c := client.New(cfg)
	t.Cleanup(c.Close)
	return c
}

// says answers with a status, a body and headers given as "Name: value".
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// listed answers with a list, and to a question whose hub it is with an empty row.
func listed(rows string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result := rows
		if r.URL.Path == "/v1/hub-info" {
			result = "{}"
		}
		says(200, `{"ok":true,"result":`+result+`}`)(w, r)
	}
}

// drops ends the connection without a word.
func drops(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// silentlyCloses is a server that takes connections and ends each at once, as one
// does that is stopping.
func silentlyCloses(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// halves promises more than it sends.
func halves(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"ok\":true")
		conn.Close()
	}
}

// roundTripper is a transport without a network, for tests in virtual time.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewBufferString(body))}
}

// asked is one call of a method: what the caller gives it, and what it must send and
// decode.
type asked struct {
	name   string
	in     []any // the arguments behind the context
	sent   sent
	answer http.HandlerFunc
	want   any
}

// sent is the request of a call. The table of operations has its method and path.
type sent struct {
	op, param, query, body string
}

func row(name string, in []any, sent sent, answer http.HandlerFunc, want any) asked {
	return asked{name, in, sent, answer, want}
}

func in(args ...any) []any { return args }

// call returns the first result of the method and its error. TestListsGoOn tests the
// cursor that a list returns between them.
func (a *asked) call(ctx context.Context, c *client.Client) (any, error) {
	method := reflect.ValueOf(c).MethodByName(a.name)
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i, arg := range a.in {
		args = append(args, reflect.ValueOf(arg).Convert(method.Type().In(i+1)))
	}
	out := method.Call(args)
	err, _ := out[len(out)-1].Interface().(error)
	return out[0].Interface(), err
}

// hubError fails the test unless err is a *hub.Error with the code.
func hubError(t *testing.T, err error, code hub.Code) *hub.Error {
	t.Helper()
	var h *hub.Error
	if !errors.As(err, &h) {
		t.Fatalf("err = %v (%T), want a *hub.Error", err, err)
	}
	if h.Code != code {
		t.Fatalf("code = %q (%s), want %q", h.Code, h.Message, code)
	}
	return h
}
