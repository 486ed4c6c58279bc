package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/relay"
)

// patience is how long a test waits for what must come.
const patience = 45 * time.Second

// simpleForwarder is the simplest that the spool's rules allow, for what a real one
// would not do: it takes what it finds and answers with what handle says.
type simpleForwarder struct {
	t      *testing.T
	dir    string
	handle func(relay.Request) *relay.Response // nil: no response is ever written
	taken  atomic.Int64
}

// forwardBy serves dir until the test ends.
func forwardBy(t *testing.T, dir string, handle func(relay.Request) *relay.Response) *simpleForwarder {
	t.Helper()
	f := &simpleForwarder{t: t, dir: dir, handle: handle}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				found, _ := filepath.Glob(filepath.Join(dir, relay.RequestsDir, "*", "*.json"))
				for _, name := range found {
					work := strings.TrimSuffix(name, ".json") + ".work"
					if os.Rename(name, work) == nil {
						f.taken.Add(1)
						wg.Go(func() { f.serve(work) })
					}
				}
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return f
}

func (f *simpleForwarder) serve(work string) {
	data, err := os.ReadFile(work)
	var in relay.Request
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		f.t.Errorf("the request %s cannot be read: %v", work, err)
		return
	}
	out := f.handle(in)
	if out == nil {
		return
	}
	putAnswer(f.t, f.dir, in.AgentID, in.RequestID, out)
	_ = os.Remove(work)
}

// putAnswer puts a response in its place, whole.
func putAnswer(t *testing.T, dir string, agent hub.AgentID, id relay.RequestID, out *relay.Response) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		t.Error(err)
		return
	}
	folder := filepath.Join(dir, relay.ResponsesDir, relay.Folder(agent))
	temp := filepath.Join(folder, ".tmp-"+string(id))
	if err := errors.Join(os.WriteFile(temp, data.Bytes(), 0o600), os.Rename(temp, filepath.Join(folder, string(id)+".json"))); err != nil {
		t.Error(err)
	}
}

// toHub answers requests with what the hub at base says.
func toHub(t *testing.T, base string) func(relay.Request) *relay.Response {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	caller := &http.Client{Transport: transport}
	return func(in relay.Request) *relay.Response {
		var body io.Reader
		if string(in.Body) != "null" {
			body = bytes.NewReader(in.Body)
		}
		r, err := http.NewRequestWithContext(context.Background(), in.Method, base+in.Path, body)
		if err != nil {
			t.Error(err)
			return nil
		}
		r.Header.Set(api.HeaderRelay, string(in.AgentID))
		if in.Method != http.MethodGet {
			r.Header.Set(api.HeaderIdempotency, string(in.RequestID))
		}
		resp, err := caller.Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
			return nil
		}
		out := &relay.Response{RequestID: in.RequestID, OK: resp.StatusCode < 300, Status: resp.StatusCode, Body: got, Headers: map[string]string{}}
		for _, name := range []string{api.HeaderReplayed, "Retry-After", api.HeaderInstance} {
			if v := resp.Header.Get(name); v != "" {
				out.Headers[name] = v
			}
		}
		return out
	}
}

// newSpool makes an empty spool.
func newSpool(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}

// through returns a client of agent through the spool at dir.
func through(t *testing.T, dir string, agent hub.AgentID, change func(*relay.TransportConfig)) *client.Client {
	t.Helper()
	cfg := relay.TransportConfig{Dir: dir, Agent: agent, Timeout: patience}
	if change != nil {
		change(&cfg)
	}
	c, transport, err := relay.NewClient(cfg)
	require.NoError(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	return c
}

// noLeaks checks at the end of the test, after its other cleanups, that nothing
// that it has started runs on.
func noLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func timeout(d time.Duration) func(*relay.TransportConfig) {
	return func(c *relay.TransportConfig) { c.Timeout = d }
}

// refusedWith returns the error if it has this code.
func refusedWith(t *testing.T, err error, code hub.Code, status int) *hub.Error {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != code || e.Status != status || e.Message == "" || e.Fix == "" {
		t.Fatalf("the error is %#v, want %d %s with a fix", err, status, code)
	}
	return e
}

// empties waits until nothing lies in a spool any more: a request is removed only
// after its answer is there.
func empties(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, "an empty spool", func() bool { return len(files(t, dir)) == 0 })
}

// files lists what lies in a spool.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(name, dir+"/"))
		}
		if errors.Is(err, os.ErrNotExist) { // gone since
			return nil
		}
		return err
	})
	require.NoError(t, err)
	return list
}

func keyed(t *testing.T, key string) context.Context {
	return hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: key}})
}
