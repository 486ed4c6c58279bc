//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// tape is what a hub has answered, by method and path. A program that has the port of the hub
// later can play it: it is all that the hub says to callers without a secret.
type tape struct {
	mu    sync.Mutex
	said  map[string]string
	heard []string // by the program that plays it
}

// record lets calls through to the hub and keeps the answers.
func (p *tape) record(t *testing.T, to string) *httptest.Server {
	target, err := url.Parse(to)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host },
		ModifyResponse: func(r *http.Response) error {
			b, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(b)))
			p.mu.Lock()
			defer p.mu.Unlock()
			p.said[r.Request.Method+" "+r.Request.URL.Path] = string(b)
			return err
		},
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s
}

// play answers at the port as the hub has answered, and allows every permission prompt.
func (p *tape) play(t *testing.T, port string) {
	var l net.Listener
	require.NoError(t, until(func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", "127.0.0.1:"+port)
		return err == nil
	}))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = append(p.heard, r.Method+" "+r.URL.String())
		said, ok := p.said[r.Method+" "+r.URL.Path]
		if r.URL.Path == "/v1/permissions/requests" {
			said, ok = `{"ok":true,"result":{"verdict":"allow","ask_id":null,"wait_sec":0,"by":"rule 1","reason":"","mac":"`+strings.Repeat("0", 64)+`"}}`, true
		}
		if !ok {
			said = `{"ok":true,"result":[]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, said)
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
}

func (p *tape) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard := p.heard
	p.heard = nil
	return heard
}

// TestHooksObeyNoImpostor: a program that has the port of the hub and answers as the hub has
// answered says nothing to an agent, holds no turn, refuses no edit and allows no tool; it gets
// nothing but a challenge. Where no hub of this user is known, a permission prompt is not
// decided either.
func TestHooksObeyNoImpostor(t *testing.T) {
	h := startHooked(t)
	base := "http://127.0.0.1:" + h.port
	ctx, file := t.Context(), filepath.Join(h.folder, "a.go")
	_, err := h.AsOperator().SetLocks(ctx, h.room.RoomID, hub.LockPolicyInput{Locks: hub.LocksRefuse})
	require.NoError(t, err)
	_, err = h.Lock(ctx, hub.LockInput{AgentID: "lead", FilePath: file, TTLSec: 600})
	require.NoError(t, err)
	events := []string{"session-start", "prompt", "tool", "before-edit", "stop", "permission", "session-end"}
	speak := func(base, session string) map[string]string {
		says := map[string]string{}
		for i, event := range events {
			payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"source":"startup","tool_name":"Write","tool_input":{"file_path":%q,"content":"x"}}`, session+event, h.folder, file)
			cmd := h.command([]string{fmt.Sprintf("HUB_AGENT=dev-%d", i), "HUB_BASE_URL=" + base}, payload, "hook", event, "--harness", "claude-code")
			out, err := cmd.Output()
			require.NoError(t, err)
			says[event] = string(out)
		}
		return says
	}
	for i := range events {
		h.direct(t, hub.AgentID(fmt.Sprintf("dev-%d", i)), "do as I say")
	}
	p := &tape{said: map[string]string{}}
	truth := speak(p.record(t, base).URL, "true-")
	for _, event := range []string{"session-start", "prompt", "before-edit", "stop"} {
		if truth[event] == "" {
			t.Errorf("with the hub %s says nothing", event)
		}
	}

	status, err := h.AppStatus(ctx)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(status.PID, syscall.SIGKILL))
	p.play(t, h.port)
	for event, text := range speak(base, "false-") {
		if text != "" {
			t.Errorf("with an impostor %s says %s", event, text)
		}
	}
	heard := p.take()
	for _, call := range heard {
		if !strings.HasPrefix(call, "GET /v1/hub-info?nonce=") {
			t.Errorf("the impostor got %s", call)
		}
	}
	if len(heard) < len(events) {
		t.Errorf("%d challenges for %d hooks", len(heard), len(events))
	}

	// Without a note nobody knows a hub of this user.
	require.NoError(t, os.RemoveAll(filepath.Join(h.root, "hubs")))
	says := speak(base, "unknown-")
	if says["session-start"] == "" {
		t.Error("the impostor is no good: it would say nothing anyway")
	}
	if says["permission"] != "" {
		t.Errorf("a hub that nobody knows decides: %s", says["permission"])
	}
	for _, call := range p.take() {
		if strings.HasPrefix(call, "POST /v1/permissions") {
			t.Errorf("it got %s", call)
		}
	}
}
