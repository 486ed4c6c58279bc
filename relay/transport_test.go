package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
	"hubcli/relay/forwarder"
)

func TestTransportCarriesACall(t *testing.T) {
	noLeaks(t)
	dir := newSpool(t)
	var got relay.Request
	forwardBy(t, dir, func(in relay.Request) *relay.Response {
		got = in
		return &relay.Response{
			RequestID: in.RequestID, OK: true, Status: 201, Body: json.RawMessage(`{"ok":true,"result":{"id":7,"body":"<ä>"}}`),
			Headers: map[string]string{"Idempotent-Replayed": "true"},
		}
	})
	agent := hub.AgentID("host:dev@x")
	c := through(t, dir, agent, nil)
	out, err := c.Post(keyed(t, "a-key"), hub.PostInput{FromAgent: agent, Body: "<ä> & \"x\""})
	if err != nil || !out.Created || !out.Replayed || string(out.Row) != `{"id":7,"body":"<ä>"}` {
		t.Fatalf("Post = %+v, %v", out, err)
	}
	var body hub.PostInput
	if err := json.Unmarshal(got.Body, &body); err != nil || body.Body != "<ä> & \"x\"" {
		t.Errorf("the body is %s, %v", got.Body, err)
	}
	if got.RequestID != "a-key" || got.AgentID != agent || got.Method != "POST" || got.Path != "/v1/messages" {
		t.Errorf("the request is %+v", got)
	}
	if age := time.Since(got.CreatedAt.Std()); age < 0 || age > time.Minute {
		t.Errorf("the request says that it is %s old", age)
	}
	for _, folder := range []string{"requests/host_dev_x", "responses/host_dev_x"} {
		info, err := os.Stat(filepath.Join(dir, folder))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", folder, info, err)
		}
	}
	empties(t, dir)
}

// TestTransportWritesWholeAndPrivate looks at the request while it lies there.
func TestTransportWritesWholeAndPrivate(t *testing.T) {
	dir := newSpool(t)
	c := through(t, dir, "a", nil)
	ctx, cancel := context.WithCancel(keyed(t, "k"))
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		name := filepath.Join(dir, "requests/a/k.json")
		for ctx.Err() == nil {
			info, err := os.Stat(name)
			if err != nil {
				continue
			}
			if info.Mode() != 0o600 || info.Size() == 0 {
				t.Errorf("%s has mode %s and %d bytes", name, info.Mode(), info.Size())
			}
			return
		}
		t.Error("no request came")
	})
	_, err := c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "x"})
	cancel()
	wg.Wait()
	if err == nil {
		t.Error("a call that nobody answers succeeded")
	}
}

func TestTransportWithoutSpool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := through(t, dir, "a", nil).Info(t.Context())
	if e := refusedWith(t, err, hub.CodeSpoolFailed, 597); !strings.Contains(e.Fix, "hubcli relay --spool-dir "+dir) {
		t.Errorf("the fix is %q", e.Fix)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the call has made the spool: %v", err)
	}
	// What stands in the way is named.
	file := filepath.Join(t.TempDir(), "file")
	dir = newSpool(t)
	require.NoError(t, errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink("/", filepath.Join(dir, "requests"))))
	for _, dir := range []string{file, dir} {
		_, err = through(t, dir, "a", nil).Info(t.Context())
		if e := refusedWith(t, err, hub.CodeSpoolFailed, 597); !strings.Contains(e.Message, dir) {
			t.Errorf("the sentence is %q", e.Message)
		}
	}
	for _, agent := range []hub.AgentID{"", "a/b", "operator"} {
		if _, err := relay.NewTransport(relay.TransportConfig{Agent: agent}); err == nil {
			t.Errorf("a transport for %q was made", agent)
		}
	}
}

// TestTransportWithdraws: what nobody has taken is taken back, and has no effect.
func TestTransportWithdraws(t *testing.T) {
	dir := newSpool(t)
	c := through(t, dir, "a", timeout(50*time.Millisecond))
	_, err := c.Post(keyed(t, "k"), hub.PostInput{FromAgent: "a", Body: "x"})
	e := refusedWith(t, err, hub.CodeRelayTimeout, 598)
	if e.Detail["outcome"] != nil || e.Detail["request_id"] != "k" || !strings.Contains(e.Message, "no effect") || !strings.Contains(e.Fix, "hubcli relay") {
		t.Errorf("the error is %+v", e)
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("these files are left: %q", left)
	}
	// So does a caller that leaves.
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for len(files(t, dir)) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel(gone)
	})
	_, err = through(t, dir, "a", nil).Post(ctx, hub.PostInput{FromAgent: "a", Body: "x"})
	wg.Wait()
	if !errors.Is(err, gone) || len(files(t, dir)) != 0 {
		t.Errorf("err = %v, files %q", err, files(t, dir))
	}
}

// TestTransportSaysWhatIsUnknown: what a forwarder has taken cannot be taken
// back, and the same key asks for its outcome.
func TestTransportSaysWhatIsUnknown(t *testing.T) {
	dir := newSpool(t)
	f := forwardBy(t, dir, func(relay.Request) *relay.Response { return nil })
	c := through(t, dir, "a", timeout(2*time.Second))
	_, err := c.Post(keyed(t, "k"), hub.PostInput{FromAgent: "a", Body: "x"})
	e := refusedWith(t, err, hub.CodeRelayTimeout, 598)
	if e.Detail["outcome"] != "unknown" || e.Detail["request_id"] != "k" {
		t.Errorf("the error is %+v", e)
	}
	_, _, err = c.Channels(t.Context(), hub.ChannelsQuery{})
	if e := refusedWith(t, err, hub.CodeRelayTimeout, 598); e.Detail["outcome"] != nil {
		t.Errorf("of a read: %+v", e)
	}
	// The same call again waits for the request that lies there still, and writes
	// no second one.
	taken := f.taken.Load()
	patient := through(t, dir, "a", nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		out, err := patient.Post(keyed(t, "k"), hub.PostInput{FromAgent: "a", Body: "x"})
		if err != nil || string(out.Row) != `{"id":1}` {
			t.Errorf("Post = %+v, %v", out, err)
		}
	})
	wg.Go(func() {
		// Another call with the key is not answered with this one's answer.
		_, err := through(t, dir, "a", nil).CreateChannel(keyed(t, "k"), hub.ChannelInput{Name: "x"})
		refusedWith(t, err, hub.CodeInProgress, 409)
		putAnswer(t, dir, "a", "k", &relay.Response{RequestID: "k", OK: true, Status: 201, Body: json.RawMessage(`{"ok":true,"result":{"id":1}}`)})
	})
	wg.Wait()
	if n := f.taken.Load(); n != taken {
		t.Errorf("%d requests more were written", n-taken)
	}
}

// TestTransportForgetsOldAnswers: an answer that a call has left unread is not
// that of the next call with the key.
func TestTransportForgetsOldAnswers(t *testing.T) {
	dir := newSpool(t)
	serveSpool(t, dir, testhub.Start(t).URL)
	c := through(t, dir, "a", nil)
	if _, err := c.Info(t.Context()); err != nil { // makes the folders
		t.Fatal(err)
	}
	putAnswer(t, dir, "a", "k", &relay.Response{RequestID: "k", Status: 201, Body: json.RawMessage(`{"ok":true,"result":{"id":99}}`)})
	for i := range 2 {
		out, err := c.Post(keyed(t, "k"), hub.PostInput{FromAgent: "a", Body: "x"})
		if err != nil || out.Replayed != (i > 0) {
			t.Fatalf("Post = %+v, %v", out, err)
		}
		if row, err := out.Row.Decode(); err != nil || row.ID != 1 || row.Assurance != hub.AssuranceRelay {
			t.Errorf("the row is %s", out.Row)
		}
	}
	// Keys that are no file names are kept apart all the same.
	for _, key := range []string{"a b/../c", "a b/../d", strings.Repeat("k", 200)} {
		for range 2 {
			if _, err := c.Post(keyed(t, key), hub.PostInput{FromAgent: "a", Body: "y"}); err != nil {
				t.Error(err)
			}
		}
	}
	page, err := c.Messages(t.Context(), hub.MessagesQuery{Channel: hub.DefaultChannel})
	if err != nil || len(page.Rows) != 4 {
		t.Errorf("there are %d messages, want one a key; %v", len(page.Rows), err)
	}
}

// TestTransportSlicesWaits: what a forwarder caps does not show.
func TestTransportSlicesWaits(t *testing.T) {
	h := testhub.Start(t)
	dir := newSpool(t)
	var sinces []string
	var slices atomic.Int64
	forward := toHub(t, h.URL)
	forwardBy(t, dir, func(in relay.Request) *relay.Response {
		if strings.HasPrefix(in.Path, "/v1/events") {
			var next string
			if _, rest, ok := strings.Cut(in.Path, "since_id="); ok {
				next, _, _ = strings.Cut(rest, "&")
			}
			sinces = append(sinces, next)
			slices.Add(1)
			// As one whose cap is nothing: it answers at once.
			path, _, _ := strings.Cut(in.Path, "&timeout=")
			in.Path = path + "&timeout=0"
		}
		return forward(in)
	})
	a, b := through(t, dir, "a", nil), client.New(client.Config{BaseURL: h.URL})
	t.Cleanup(b.Close)
	if _, err := b.Post(t.Context(), hub.PostInput{FromAgent: "b", ToAgent: "c", Body: "not for a"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		page, err := a.Events(t.Context(), hub.EventsQuery{Wait: time.Minute})
		if err != nil || len(page.Rows) != 1 || page.NextSinceID != 2 {
			t.Errorf("Events = %+v, %v", page, err)
		}
	})
	require.Eventually(t, "three slices", func() bool { return slices.Load() >= 3 })
	if _, err := b.Post(t.Context(), hub.PostInput{FromAgent: "b", Body: "for all"}); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if len(sinces) < 3 || sinces[0] != "" || sinces[1] != "1" {
		t.Errorf("the slices began at %q", sinces)
	}
	// A wait that ends without rows ends in its time.
	began := time.Now()
	page, err := a.Events(t.Context(), hub.EventsQuery{Since: 2, Wait: 600 * time.Millisecond})
	if took := time.Since(began); err != nil || len(page.Rows) != 0 || page.NextSinceID != 2 || took < 500*time.Millisecond || took > 15*time.Second {
		t.Errorf("Events = %+v, %v after %s", page, err, took)
	}
}

// TestTransportKeepsCallsApart: many calls at once, with and without
// notification, each get their own answer.
func TestTransportKeepsCallsApart(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("deaf=%v", deaf), func(t *testing.T) {
			dir := newSpool(t)
			h := testhub.Start(t)
			serveSpool(t, dir, h.URL)
			c := through(t, dir, "a", func(cfg *relay.TransportConfig) { cfg.NoNotify = deaf })
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					text := fmt.Sprint("text ", i)
					out, err := c.Post(t.Context(), hub.PostInput{FromAgent: "a", Body: text})
					if err != nil {
						t.Error(err)
						return
					}
					if row, err := out.Row.Decode(); err != nil || row.Body != text {
						t.Errorf("%q was answered with %s", text, out.Row)
					}
				})
			}
			// The same call twice at once is done once.
			for range 2 {
				wg.Go(func() {
					if _, err := c.Post(keyed(t, "same"), hub.PostInput{FromAgent: "a", Body: "same"}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			page, err := c.Messages(t.Context(), hub.MessagesQuery{Channel: hub.DefaultChannel})
			if err != nil || len(page.Rows) != 17 {
				t.Errorf("%d messages, %v", len(page.Rows), err)
			}
			empties(t, dir)
		})
	}
}

// TestTransportCarriesNoSecret: neither a session nor a token is written.
func TestTransportCarriesNoSecret(t *testing.T) {
	dir := newSpool(t)
	forwardBy(t, dir, func(in relay.Request) *relay.Response {
		data, err := json.Marshal(in)
		if err != nil || bytes.Contains(data, []byte("secret")) {
			t.Errorf("the request is %s, %v", data, err)
		}
		return &relay.Response{
			RequestID: in.RequestID, Status: 200, Body: json.RawMessage(`{"ok":true,"result":[]}`),
			Headers: map[string]string{"Set-Cookie": "forged", "X-Hub-Instance": "i"},
		}
	})
	transport, err := relay.NewTransport(relay.TransportConfig{Dir: dir, Agent: "a"})
	require.NoError(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	for _, header := range []string{api.HeaderSession, api.HeaderOperator, "Authorization", "Cookie"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://spool/v1/channels", nil)
		require.NoError(t, err)
		r.Header.Set(header, "secret")
		resp, err := transport.RoundTrip(r)
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("Set-Cookie") != "" || resp.Header.Get(api.HeaderInstance) != "i" {
			t.Errorf("%s: %v, %v", header, resp, err)
		}
	}
	// A condition that cannot be carried is refused rather than left out.
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://spool/v1/channels", nil)
	r.Header.Set(api.HeaderInstance, "x")
	if resp, err := transport.RoundTrip(r); err != nil || resp.StatusCode != 400 {
		t.Errorf("with a store: %v, %v", resp, err)
	}
	c := through(t, dir, "a", nil)
	_, err = c.Shutdown(t.Context(), hub.ShutdownInput{})
	refusedWith(t, err, hub.CodeOperatorRequired, 403)
}

func TestTransportLimits(t *testing.T) {
	transport, err := relay.NewTransport(relay.TransportConfig{Dir: newSpool(t), Agent: "a", Timeout: 300 * time.Millisecond})
	require.NoError(t, err)
	for body, want := range map[string]int{
		strings.Repeat(" ", relay.MaxRequestBytes+1): 413,
		"{":  400,
		"{}": 598,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://spool/v1/messages", strings.NewReader(body))
		require.NoError(t, err)
		resp, err := transport.RoundTrip(r)
		if err != nil || resp.StatusCode != want {
			t.Errorf("%.10q: %v, %v, want %d", body, resp, err, want)
		}
	}
	transport.CloseIdleConnections()
}

// serveSpool runs a real forwarder from dir to the hub at base until the test
// ends.
func serveSpool(t *testing.T, dir, base string) {
	t.Helper()
	f, err := forwarder.New(forwarder.Config{Dir: dir, BaseURL: base, Notify: true, PollInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
}
