package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
)

// BenchmarkPost measures the cost of the edge alone: routing, decoding, checks
// and the answer of one post, without a network and with a service that does
// nothing.
func BenchmarkPost(b *testing.B) {
	row := hub.EncodedMessage(`{"id":1,"body":"` + strings.Repeat("x", 256) + `"}`)
	s := &stub{post: func(context.Context, hub.PostInput) (hub.Outcome[hub.EncodedMessage], error) {
		return hub.Outcome[hub.EncodedMessage]{Row: row}, nil
	}}
	server, err := httpapi.New(httpapi.Config{Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, OperatorToken: "t", InstanceID: "i"})
	require.NoError(b, err)
	ctx := context.WithValue(b.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{Port: 6000}))
	body := `{"from_agent":"agent-12","channel":"general","body":"` + strings.Repeat("lorem ip", 32) + `"}`
	r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1:6000/v1/messages", nil)
	r.RemoteAddr = "127.0.0.1:5000"
	r.Header.Set("Content-Type", "application/json")
	handler := server.Handler()
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		r.Body = io.NopCloser(strings.NewReader(body))
		handler.ServeHTTP(w, r)
	}
}

// BenchmarkGet measures the cost of the edge for a read by a path with a parameter.
func BenchmarkGet(b *testing.B) {
	s := &oneTask{}
	server, err := httpapi.New(httpapi.Config{Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, OperatorToken: "t", InstanceID: "i"})
	require.NoError(b, err)
	ctx := context.WithValue(b.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{Port: 6000}))
	r := httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:6000/v1/tasks/17?agent_id=agent-12", nil)
	r.RemoteAddr = "127.0.0.1:5000"
	handler := server.Handler()
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		handler.ServeHTTP(w, r)
	}
}

// oneTask is a hub that has the same task under every id.
type oneTask struct{ stub }

func (*oneTask) Task(context.Context, hub.MessageID, hub.AgentID) (hub.Task, error) {
	return hub.Task{Status: hub.TaskOpen}, nil
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
