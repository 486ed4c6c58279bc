package forwarder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testlog"
	"hubcli/relay"
)

func TestMain(m *testing.M) {
	crashingForwarder()
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for an expected event. A call that a test
// parks in the hub does not end by itself within that time: it waits for a
// minute.
const (
	patience     = 45 * time.Second
	longPatience = 2 * patience
)

// bench is a spool with a hub.
type bench struct {
	*testing.T
	dir  string
	url  string
	log  *testlog.Buffer
	stop func()
}

// newBench makes the folders of a spool; url is the hub's.
func newBench(t *testing.T, url string) *bench {
	t.Helper()
	b := &bench{T: t, dir: filepath.Join(t.TempDir(), "spool"), url: url, log: &testlog.Buffer{}}
	require.NoError(t, relay.MakeSpool(b.dir))
	return b
}

// forward runs a forwarder until the test ends or stop is called.
func (b *bench) forward(change func(*Config)) (stop func()) {
	b.Helper()
	ready, stop := b.forwardUnready(change)
	select {
	case <-ready:
	case <-time.After(patience):
		b.Fatal("the forwarder does not become ready")
	}
	return stop
}

// forwardUnready is forward, but does not wait until the spool is served.
func (b *bench) forwardUnready(change func(*Config)) (ready chan struct{}, stop func()) {
	b.Helper()
	ready = make(chan struct{})
	cfg := Config{
		Dir: b.dir, BaseURL: b.url, PollInterval: 20 * time.Millisecond, Notify: true, RequestTimeout: longPatience,
		Logger: slog.New(slog.NewTextHandler(b.log, nil)), Ready: func() { close(ready) },
	}
	if change != nil {
		change(&cfg)
	}
	f, err := New(cfg)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	b.Cleanup(func() {
		stop()
		if strings.Contains(b.log.String(), "panicked") {
			b.Errorf("the forwarder panicked:\n%s", b.log)
		}
	})
	return ready, stop
}

// start is a bench with a hub and a forwarder.
func start(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := newBench(t, testhub.Start(t).URL)
	b.stop = b.forward(change)
	return b
}

func (b *bench) path(parts ...string) string {
	return filepath.Join(append([]string{b.dir}, parts...)...)
}

// until waits until a condition holds.
func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%s: it did not come within %s\n%s", what, patience, b.log)
		}
	}
}

// put writes a file of an agent's requests as a client does.
func (b *bench) put(folder, name string, data []byte) {
	b.Helper()
	dir := b.path(relay.RequestsDir, folder)
	temp := filepath.Join(dir, relay.TempPrefix+string(relay.NewRequestID()))
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(temp, data, 0o600)
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	require.NoError(b, err)
}

// ask writes a request and returns its id.
func (b *bench) ask(agent hub.AgentID, method, path, body string) relay.RequestID {
	b.Helper()
	id := relay.NewRequestID()
	b.askAs(id, agent, method, path, body)
	return id
}

func (b *bench) askAs(id relay.RequestID, agent hub.AgentID, method, path, body string) {
	b.Helper()
	r := relay.Request{RequestID: id, AgentID: agent, Method: method, Path: path, CreatedAt: hub.TimeOf(time.Now())}
	if body != "" {
		r.Body = json.RawMessage(body)
	}
	data, err := json.Marshal(r)
	require.NoError(b, err)
	b.put(relay.Folder(agent), string(id)+relay.DoneSuffix, data)
}

// response returns a response if it is there.
func (b *bench) response(folder string, id relay.RequestID) (*relay.Response, bool) {
	b.Helper()
	data, err := os.ReadFile(b.path(relay.ResponsesDir, folder, string(id)+relay.DoneSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	var r relay.Response
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		b.Fatalf("response %s: %v\n%s", id, err, data)
	}
	return &r, true
}

// answer waits for the response to a request of an agent.
func (b *bench) answer(folder string, id relay.RequestID) (*relay.Response, api.Envelope) {
	b.Helper()
	var r *relay.Response
	b.until("response to "+string(id), func() (ok bool) {
		r, ok = b.response(folder, id)
		return ok
	})
	var e api.Envelope
	require.NoError(b, json.Unmarshal(r.Body, &e))
	if r.RequestID != id || r.OK != e.OK || !r.OK && e.Status != r.Status {
		b.Errorf("response %+v does not fit its envelope %+v", r, e)
	}
	return r, e
}

// wants asks and compares status and code.
func (b *bench) wants(status int, code hub.Code, agent hub.AgentID, method, path, body string) api.Envelope {
	b.Helper()
	r, e := b.answer(relay.Folder(agent), b.ask(agent, method, path, body))
	if r.Status != status || e.Code != code {
		b.Errorf("%s %s: %d %s (%s), want %d %s", method, path, r.Status, e.Code, e.Error, status, code)
	}
	return e
}

// works proves that an agent is served.
func (b *bench) works(agent hub.AgentID) {
	b.Helper()
	b.wants(201, "", agent, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":%q,"body":"still here"}`, agent))
}

// names lists a folder.
func (b *bench) names(parts ...string) (list []string) {
	entries, _ := os.ReadDir(b.path(parts...))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// bodies lists the bodies of all public messages in the hub.
func (b *bench) bodies() (list []string) {
	b.Helper()
	c := client.New(client.Config{BaseURL: b.url})
	defer c.Close()
	since := hub.MessageID(0)
	for {
		page, err := c.Messages(b.Context(), hub.MessagesQuery{Channel: "general", Since: since, Limit: 1000})
		require.NoError(b, err)
		for _, row := range page.Rows {
			m, err := row.Decode()
			require.NoError(b, err)
			list = append(list, m.Body)
		}
		if since = page.NextSinceID; len(page.Rows) == 0 {
			return list
		}
	}
}

func TestForwarderCarriesCalls(t *testing.T) {
	for _, notify := range []bool{true, false} {
		t.Run(fmt.Sprintf("notify=%v", notify), func(t *testing.T) {
			b := start(t, func(c *Config) { c.Notify = notify })
			e := b.wants(201, "", "dev-a", "POST", "/v1/messages", `{"from_agent":"dev-a","body":"<hello> & ünïcode"}`)
			var m hub.Message
			if err := json.Unmarshal(e.Result, &m); err != nil || m.Body != "<hello> & ünïcode" || m.Assurance != hub.AssuranceRelay {
				t.Errorf("message %+v, %v", m, err)
			}
			b.wants(200, "", "dev-a", "GET", "/v1/hub-info", "")
			b.wants(201, "", "dev-a", "POST", "/v1/claims", `{"owner_agent_id":"dev-a","claim_key":"k"}`)
			b.wants(200, "", "dev-a", "GET", "/v1/events?agent_id=dev-a&timeout=0", "")
			b.wants(404, hub.CodeThreadNotFound, "dev-a", "GET", "/v1/threads/none?agent_id=dev-a", "")
			b.wants(403, hub.CodeAgentMismatch, "dev-a", "GET", "/v1/inbox/dev-b", "")
			b.wants(403, hub.CodeNotRelayed, "dev-a", "POST", "/v1/shutdown", "{}")
			b.until("requests are removed", func() bool { return len(b.names(relay.RequestsDir, "dev-a")) == 0 })
		})
	}
}

func TestResponseHeaders(t *testing.T) {
	b := start(t, nil)
	id := b.ask("dev-a", "POST", "/v1/messages", `{"from_agent":"dev-a","body":"once"}`)
	first, _ := b.answer("dev-a", id)
	b.until("the request is removed", func() bool { return len(b.names(relay.RequestsDir, "dev-a")) == 0 })
	require.NoError(t, os.Remove(b.path(relay.ResponsesDir, "dev-a", string(id)+relay.DoneSuffix)))
	b.askAs(id, "dev-a", "POST", "/v1/messages", `{"from_agent":"dev-a","body":"once"}`)
	again, _ := b.answer("dev-a", id)
	if first.Headers[api.HeaderReplayed] != "" || again.Headers[api.HeaderReplayed] != "true" || again.Headers[api.HeaderInstance] == "" {
		t.Errorf("headers %v, then %v", first.Headers, again.Headers)
	}
	if !bytes.Equal(first.Body, again.Body) {
		t.Errorf("the repetition was answered\n%s, not\n%s", again.Body, first.Body)
	}
	if n := len(b.bodies()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	info, err := os.Stat(b.path(relay.ResponsesDir, "dev-a", string(id)+relay.DoneSuffix))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the response has mode %v, %v", info.Mode(), err)
	}
}
