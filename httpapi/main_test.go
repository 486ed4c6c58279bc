package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/integrations/spawn"
	"hubcli/internal/contract"
	"hubcli/internal/require"
)

// checker compares every exchange of this package's tests with the OpenAPI
// description.
var checker *contract.Checker

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == keeperArg {
		os.Exit(spawn.Keep(os.Stdin, os.Stdout))
	}
	flag.Parse()
	var err error
	if checker, err = contract.NewChecker(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	switch {
	case !checker.Wrong():
		code = 1
	case code == 0 && whole() && !checker.Report(os.Stderr):
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// whole reports whether all tests ran, so that an operation without an exchange
// is a gap.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

const (
	testToken    = "operator-token-of-the-test"
	testInstance = "store-of-the-test"
)

// stub answers calls that need no store. A service method that a test does not
// set panics.
type stub struct {
	hub.Service
	hub.Control
	hub.Capsules
	hub.CapsuleImports
	hub.Status
	status   hub.AppStatus
	sessions map[hub.SessionID]hub.Caller

	mu       sync.Mutex
	touched  []hub.AgentID
	events   func(context.Context, hub.EventsQuery) (hub.Page, error)
	messages func(context.Context) (hub.Page, error) // those of a channel, and the log
	decision string                                  // the note of the only decision
	post     func(context.Context, hub.PostInput) (hub.Outcome[hub.EncodedMessage], error)
}

func (s *stub) Info(context.Context) (hub.Info, error) {
	return hub.Info{
		InstanceID: testInstance, ProtocolVersion: hub.ProtocolVersion, DefaultChannel: hub.DefaultChannel,
		MaxBodyChars: 1, MaxAttachmentChars: 1, MessageKinds: hub.Kinds(),
	}, nil
}

func (s *stub) AppStatus(context.Context) (hub.AppStatus, error) { return s.status, nil }

func (s *stub) Authenticate(_ context.Context, id hub.SessionID) (hub.Caller, error) {
	if c, ok := s.sessions[id]; ok {
		return c, nil
	}
	return hub.Caller{}, hub.NewError(hub.CodeSessionInvalid, "the session is unknown")
}

func (s *stub) ProvePass(string) (hub.PassID, error) {
	return "", hub.NewError(hub.CodeOperatorRequired, "the operator token is wrong")
}

func (s *stub) UserAllowed(string) bool { return false }

func (s *stub) PassToken(id hub.PassID) string { return string(id) + ".secret" }

func (s *stub) PassHolds(hub.PassID) error {
	return hub.NewError(hub.CodeOperatorRequired, "the pass has ended")
}

func (s *stub) Touch(agent hub.AgentID, _ bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touched = append(s.touched, agent)
}

func (s *stub) Agents(context.Context, hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	return nil, "", nil
}

func (s *stub) Events(ctx context.Context, q hub.EventsQuery) (hub.Page, error) {
	return s.events(ctx, q)
}

func (s *stub) Messages(ctx context.Context, _ hub.MessagesQuery) (hub.Page, error) {
	return s.messages(ctx)
}

func (s *stub) Log(ctx context.Context, _ hub.LogQuery) (hub.Page, error) { return s.messages(ctx) }

func (s *stub) Decisions(context.Context, hub.DecisionsQuery) ([]hub.Decision, hub.Cursor, error) {
	return []hub.Decision{{Note: s.decision}}, "", nil
}

func (s *stub) Post(ctx context.Context, in hub.PostInput) (hub.Posted, error) {
	out, err := s.post(ctx, in)
	return hub.Posted{Outcome: out}, err
}

// fixedAddrs stand for the addresses of this machine.
func fixedAddrs() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}
}

// edge is a server on a free port with a stub behind it.
type edge struct {
	*stub
	addr string
	port string
	log  *bytes.Buffer // written by the server's logger; read it after stop
	stop func() error
}

// startEdge runs a server until the test ends.
func startEdge(t *testing.T, change func(*httpapi.Config)) *edge {
	t.Helper()
	e := &edge{stub: &stub{
		status:   hub.AppStatus{InstanceID: testInstance, PID: 1, Journal: hub.JournalStatus{State: hub.JournalOK}},
		sessions: map[hub.SessionID]hub.Caller{"s1.secret": {Agent: "agent-1", Session: "s1", Incarnation: 1}},
	}, log: &bytes.Buffer{}}
	config := httpapi.Config{
		Service: e, Status: e, Control: e, Capsules: e, Imports: e, Sessions: e, Presence: e,
		OperatorToken: testToken, InstanceID: testInstance,
		LocalAddrs: fixedAddrs,
		Logger:     slog.New(slog.NewTextHandler(e.log, nil)),
	}
	if change != nil {
		change(&config)
	}
	server, err := httpapi.New(config)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	e.addr = l.Addr().String()
	e.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	e.stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() {
		if err := e.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return e
}

// exchange sends a raw request and returns the answer, checked against the
// contract if its answer is an envelope of ours.
func (e *edge) exchange(t *testing.T, raw string) (*http.Response, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", e.addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(45*time.Second)))
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(raw, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.60q: %v", raw, err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.60q: %v", raw, err)
	}
	if r, body, err := parsed(raw); err == nil && resp.Header.Get("Content-Type") == api.ContentType {
		if err := checker.Check(r, body, resp, got); err != nil {
			t.Error(err)
		}
	}
	return resp, got
}

// parsed reads a raw request as a server would.
func parsed(raw string) (*http.Request, []byte, error) {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return nil, nil, err
	}
	body, _ := io.ReadAll(r.Body) // as much as the test sent
	return r, body, nil
}

// get is exchange for a GET with headers, each "Name: value".
func (e *edge) get(t *testing.T, path string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	return e.send(t, "GET", path, "", headers...)
}

// send is exchange with our Host.
func (e *edge) send(t *testing.T, method, path, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, e.addr)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return e.exchange(t, b.String())
}

// codeOf returns the error code of an answer, or "ok".
func codeOf(t *testing.T, body []byte) hub.Code {
	t.Helper()
	var envelope api.Envelope
	if err := json.Unmarshal(body, &envelope); err != nil {
		t.Fatalf("%q is no envelope: %v", body, err)
	}
	if envelope.OK {
		return "ok"
	}
	return envelope.Code
}

func TestConfig(t *testing.T) {
	if _, err := httpapi.New(httpapi.Config{}); err == nil {
		t.Error("a server without services was made")
	}
	s := &stub{}
	whole := httpapi.Config{Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, OperatorToken: "t", InstanceID: "i"}
	for name, spoil := range map[string]func(*httpapi.Config){
		"no token":          func(c *httpapi.Config) { c.OperatorToken = "" },
		"no instance":       func(c *httpapi.Config) { c.InstanceID = "" },
		"negative limit":    func(c *httpapi.Config) { c.Limits.MaxBodyChars = -1 },
		"negative timeout":  func(c *httpapi.Config) { c.ReadTimeout = -1 },
		"negative capacity": func(c *httpapi.Config) { c.MaxConnections = -1 },
	} {
		c := whole
		spoil(&c)
		if _, err := httpapi.New(c); err == nil {
			t.Errorf("%s: a server was made", name)
		}
	}
	if _, err := httpapi.New(whole); err != nil {
		t.Error(err)
	}
}

func TestServeTellsThatTheListenerFailed(t *testing.T) {
	s := &stub{}
	server, err := httpapi.New(httpapi.Config{Service: s, Status: s, Control: s, Capsules: s, Imports: s, Sessions: s, OperatorToken: "t", InstanceID: "i"})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_ = l.Close()
	if err := server.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve on a closed listener returned %v", err)
	}
}
