package client_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/hubfile"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// proving answers challenges as the hub of the note does, and everything else by next.
func proving(f **testhub.Fake, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !(*f).Prove(w, r) {
			next(w, r)
		}
	}
}

// challenges counts what asks for a proof; the other requests are returned.
func challenges(all []seen) (n int, others []seen) {
	for _, r := range all {
		if strings.HasPrefix(r.uri, "/v1/hub-info?nonce=") {
			n++
		} else {
			others = append(others, r)
		}
	}
	return n, others
}

// TestAHubProvesItselfOnceAConnection: later calls on the connection ask for nothing.
func TestAHubProvesItselfOnceAConnection(t *testing.T) {
	var f *testhub.Fake
	h := newFakeHub(t, proving(&f, listed("[]")))
	f = testhub.NewFake(t, h.URL, nil)
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot = f.DataRoot })
	if c.Proved() {
		t.Error("a hub counts as proved before the first call")
	}
	for range 5 {
		if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil {
			t.Fatal(err)
		}
	}
	if asked, calls := challenges(h.requests()); asked != 1 || len(calls) != 5 || !c.Proved() {
		t.Errorf("%d challenges and %d calls (proved: %v), want 1 and 5", asked, len(calls), c.Proved())
	}
	c.Close()
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil {
		t.Fatal(err)
	}
	if asked, _ := challenges(h.requests()); asked != 2 {
		t.Errorf("%d challenges on two connections", asked)
	}
}

// TestMeetingAHubIsPartOfConnecting: the challenge is the only request before the next call,
// which goes over the same connection. A hub that need not prove itself is asked.
func TestMeetingAHubIsPartOfConnecting(t *testing.T) {
	h := testhub.Start(t)
	for root, asks := range map[string]string{h.DataRoot: "", t.TempDir(): "/v1/hub-info"} {
		c := client.New(client.Config{BaseURL: h.URL, DataRoot: root})
		t.Cleanup(c.Close)
		asked, err := c.Info(t.Context())
		require.NoError(t, err)
		fresh := client.New(client.Config{BaseURL: h.URL, DataRoot: root})
		t.Cleanup(fresh.Close)
		got, err := fresh.Meet(t.Context())
		require.NoError(t, err)
		if got.InstanceID != asked.InstanceID || got.Proof != "" || fresh.Proved() != (asks == "") {
			t.Errorf("Meet = %+v (proved: %v), Info = %+v", got, fresh.Proved(), asked)
		}
	}
	var f *testhub.Fake
	fake := newFakeHub(t, proving(&f, listed("[]")))
	f = testhub.NewFake(t, fake.URL, nil)
	c := fake.client(t, func(cfg *client.Config) { cfg.DataRoot = f.DataRoot })
	if _, err := c.Meet(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil {
		t.Fatal(err)
	}
	if asked, calls := challenges(fake.requests()); asked != 1 || len(calls) != 1 {
		t.Errorf("%d challenges and the calls %v, want 1 and one list", asked, calls)
	}
	if _, err := client.New(client.Config{BaseURL: "http://127.0.0.1:1", DataRoot: t.TempDir()}).Meet(t.Context()); !errors.Is(err, &hub.Error{Code: hub.CodeUnreachable}) {
		t.Errorf("Meet without a hub = %v", err)
	}
}

// TestHubsProveThemselves: a real hub to a client that has its note, and to one that has none.
func TestHubsProveThemselves(t *testing.T) {
	h := testhub.Start(t)
	for root, proves := range map[string]bool{h.DataRoot: true, t.TempDir(): false} {
		c := client.New(client.Config{BaseURL: h.URL, DataRoot: root})
		t.Cleanup(c.Close)
		if _, err := c.Post(t.Context(), hub.PostInput{FromAgent: "a", Body: "x"}); err != nil || c.Proved() != proves {
			t.Errorf("Post = %v; proved is %v, want %v", err, c.Proved(), proves)
		}
	}
}

// TestLocalhostIsTheNotedHub: the name stands for two addresses. At one the hub of this user
// is noted, and at the other any program may listen.
func TestLocalhostIsTheNotedHub(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("needs IPv6 on loopback:", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	var f *testhub.Fake
	mine := httptest.NewUnstartedServer(proving(&f, listed("[]")))
	_ = mine.Listener.Close()
	mine.Listener = l
	mine.Start()
	t.Cleanup(mine.Close)
	f = testhub.NewFake(t, mine.URL, nil)
	other, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Skip("needs the same port of both kinds:", err)
	}
	impostor := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the impostor got %s", r.RequestURI) }))
	_ = impostor.Listener.Close()
	impostor.Listener = other
	impostor.Start()
	t.Cleanup(impostor.Close)
	c := client.New(client.Config{BaseURL: fmt.Sprintf("http://localhost:%d", port), DataRoot: f.DataRoot})
	t.Cleanup(c.Close)
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil || !c.Proved() {
		t.Errorf("Agents = %v, proved: %v", err, c.Proved())
	}
}

// TestNothingIsSentToAnImpostor: whatever answers at the address of a hub of this user and
// does not prove itself gets no request but the challenge.
func TestNothingIsSentToAnImpostor(t *testing.T) {
	info := func(proof string) http.HandlerFunc {
		return says(200, `{"ok":true,"result":{"instance_id":"abc","storage_path":"/s"`+proof+`}}`)
	}
	var f *testhub.Fake
	local := func(r *http.Request) netip.AddrPort {
		return r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).AddrPort()
	}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		code   hub.Code
	}{
		"copies what a hub says": {info(""), hub.CodeImpostor},
		"an empty proof":         {info(`,"proof":""`), hub.CodeImpostor},
		"a wrong proof":          {info(`,"proof":"` + strings.Repeat("0", 64) + `"`), hub.CodeImpostor},
		"a proof of its own key": {func(w http.ResponseWriter, r *http.Request) {
			p := hubfile.Proof([]byte("guess"), r.URL.Query().Get("nonce"), local(r), "abc")
			info(`,"proof":"`+p+`"`)(w, r)
		}, hub.CodeImpostor},
		"a proof that it has seen": {func(w http.ResponseWriter, r *http.Request) {
			info(`,"proof":"`+hubfile.Proof(f.Note.ProofKey, "another-nonce-0123", local(r), "abc")+`"`)(w, r)
		}, hub.CodeImpostor},
		"the proof of the hub at another port": {func(w http.ResponseWriter, r *http.Request) { // it has forwarded the challenge
			at := netip.AddrPortFrom(local(r).Addr(), local(r).Port()+1)
			info(`,"proof":"`+hubfile.Proof(f.Note.ProofKey, r.URL.Query().Get("nonce"), at, "abc")+`"`)(w, r)
		}, hub.CodeImpostor},
		"the proof as a number": {info(`,"proof":7`), hub.CodeImpostor},
		"a page":                {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, hub.CodeImpostor},
		"404":                   {says(404, `{"ok":false,"error":"not_found"}`), hub.CodeImpostor},
		"a redirect":            {says(302, "", "Location: /v1/hub-info"), hub.CodeImpostor},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_, _ = io.WriteString(conn, "SSH-2.0-x\r\n")
				conn.Close()
			}
		}, hub.CodeImpostor},
		"more than was asked for": {func(w http.ResponseWriter, r *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				p := `{"result":{"proof":"` + hubfile.Proof(f.Note.ProofKey, r.URL.Query().Get("nonce"), local(r), "abc") + `"}}`
				_, _ = io.WriteString(conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\n", len(p), p))
				conn.Close()
			}
		}, hub.CodeImpostor},
		"unready": {says(503, `{"ok":false,"error":"stopping"}`), hub.CodeBrokeOff},
		"drops":   {drops, hub.CodeBrokeOff},
		"HTTP/1.0": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n"+`{"ok":true,"result":{"proof":"x"}}`)
				conn.Close()
			}
		}, hub.CodeBrokeOff},
		"an answer ends": {halves, hub.CodeBrokeOff},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, tt.answer)
			f = testhub.NewFake(t, h.URL, nil)
			c := h.client(t, func(cfg *client.Config) { cfg.DataRoot, cfg.Agent, cfg.Session = f.DataRoot, "dev", "sid.SECRET" })
			_, err := c.Post(t.Context(), hub.PostInput{FromAgent: "dev", Body: "PRIVATE"})
			got := hubError(t, err, tt.code)
			if got.Code == hub.CodeImpostor && (got.Message != "another program has the hub's port "+strings.TrimPrefix(h.URL, "http://") ||
				!strings.Contains(got.FixFor(hub.ForCLI), "hubcli ensure") || strings.Contains(got.FixFor(hub.ForModel), "ensure")) {
				t.Errorf("the error says %q, fix %q", got.Message, got.Fix)
			}
			if got.Code == hub.CodeBrokeOff && (!strings.Contains(got.Message, "did not prove to be the hub: ") ||
				!strings.Contains(got.Fix, strings.TrimPrefix(h.URL, "http://127.0.0.1:")) || strings.Contains(got.Fix, "app status")) {
				t.Errorf("the error says %q, fix %q", got.Message, got.Fix)
			}
			if got.Detail["outcome"] != nil {
				t.Error("the outcome counts as unknown, but nothing was sent")
			}
			for _, r := range h.requests() {
				if !strings.HasPrefix(r.uri, "/v1/hub-info?nonce=") || r.body != "" || strings.Contains(fmt.Sprint(r.header), "SECRET") {
					t.Errorf("it got %s %s %v %s", r.method, r.uri, r.header, r.body)
				}
			}
		})
	}
}

// TestAnotherProgramTakesThePort between two calls: the client notices before it sends
// anything, also if the note is gone meanwhile, and goes on with the hub once it is back.
func TestAnotherProgramTakesThePort(t *testing.T) {
	var f *testhub.Fake
	var taken atomic.Bool
	h := newFakeHub(t, func(w http.ResponseWriter, r *http.Request) {
		if taken.Load() {
			says(200, `{"ok":true,"result":{"instance_id":"abc"}}`)(w, r)
			return
		}
		proving(&f, listed("[]"))(w, r)
	})
	f = testhub.NewFake(t, h.URL, nil)
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot, cfg.Agent, cfg.Session = f.DataRoot, "dev", "sid.SECRET" })
	call := func() error {
		_, _, err := c.Agents(t.Context(), hub.AgentsQuery{})
		return err
	}
	require.NoError(t, call())
	taken.Store(true)
	h.CloseClientConnections()
	before := len(h.requests())
	hubError(t, call(), hub.CodeImpostor)
	require.NoError(t, os.RemoveAll(filepath.Join(f.DataRoot, "hubs")))
	hubError(t, call(), hub.CodeImpostor)
	if _, others := challenges(h.requests()[before:]); len(others) > 0 {
		t.Errorf("the impostor got %+v", others)
	}
	taken.Store(false)
	require.NoError(t, call())
}

// TestAnotherHubOfThisUserTakesThePort while a client dials: the note is read again.
func TestAnotherHubOfThisUserTakesThePort(t *testing.T) {
	var f *testhub.Fake
	h := newFakeHub(t, func(w http.ResponseWriter, r *http.Request) {
		if f.Note.InstanceID == testhub.FakeInstance { // it starts just now
			f.Note.InstanceID, f.Note.ProofKey = "def", hubfile.ProofKey([]byte("another store"))
			if err := hubfile.Write(f.DataRoot, f.Note); err != nil {
				t.Error(err)
			}
		}
		proving(&f, listed("[]"))(w, r)
	})
	f = testhub.NewFake(t, h.URL, nil)
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot = f.DataRoot })
	if _, _, err := c.Agents(t.Context(), hub.AgentsQuery{}); err != nil {
		t.Fatal(err)
	}
}

// TestADamagedNoteIsNoReasonToBelieve the port.
func TestADamagedNoteIsNoReasonToBelieve(t *testing.T) {
	h := newFakeHub(t, listed("[]"))
	f := testhub.NewFake(t, h.URL, nil)
	name := strings.ReplaceAll(f.Note.Address.String(), ":", "_")
	require.NoError(t, os.WriteFile(filepath.Join(f.DataRoot, "hubs", name), []byte("{"), 0o600))
	c := h.client(t, func(cfg *client.Config) { cfg.DataRoot = f.DataRoot })
	_, _, err := c.Agents(t.Context(), hub.AgentsQuery{})
	if got := hubError(t, err, hub.CodeImpostor); !strings.Contains(got.Message, name) {
		t.Errorf("the error names no file: %s", got.Message)
	}
	if len(h.requests()) > 0 {
		t.Errorf("it got %+v", h.requests())
	}
}
