package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testport"
)

const post201 = `{"ok":true,"result":{"id":7,"from_agent":"a","channel":"general","kind":"chat","body":"hi"}}`

func postOne(ctx context.Context, c *client.Client) (hub.Posted, error) {
	return c.Post(ctx, hub.PostInput{FromAgent: "a", Body: "hi"})
}

func TestErrorsCarryTheWholeEnvelope(t *testing.T) {
	h := newFakeHub(t, says(409, `{"ok":false,"error":"another holds it","code":"stale_fence","status":409,
		"detail":{"fence":3},"fix":"claim it again"}`))
	_, err := h.client(t, nil).ReleaseClaim(t.Context(), hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"})
	got := hubError(t, err, hub.CodeStaleFence)
	want := &hub.Error{
		Message: "another holds it", Code: hub.CodeStaleFence, Status: 409,
		Detail: map[string]any{"fence": 3.0}, Fix: "claim it again", Answered: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("error = %+v, want %+v", got, want)
	}
}

func TestAnErrorWithoutAStatusTakesThatOfHTTP(t *testing.T) {
	h := newFakeHub(t, says(418, `{"ok":false,"error":"short and stout","code":"teapot"}`, "Retry-After: 9"))
	_, _, err := h.client(t, nil).Channels(t.Context(), hub.ChannelsQuery{})
	if got := hubError(t, err, "teapot"); got.Status != 418 || got.RetryAfter != 9 {
		t.Errorf("status %d, retry after %d; want 418, 9", got.Status, got.RetryAfter)
	}
}

func TestAWriteIsSentAgainWithItsKey(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{"dropped": drops, "half an answer": halves} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, broken, broken, says(201, post201, "Idempotent-Replayed: true"))
			out, err := postOne(t.Context(), h.client(t, nil))
			if err != nil || !out.Created || !out.Replayed {
				t.Fatalf("Post = %+v, %v; want a replayed creation", out, err)
			}
			requests := h.requests()
			if len(requests) < 3 {
				t.Fatalf("%d requests, want at least 3", len(requests))
			}
			key := requests[0].header.Get("Idempotency-Key")
			for i, r := range requests {
				if got := r.header.Get("Idempotency-Key"); got != key || len(key) != 32 {
					t.Errorf("request %d has the key %q, the first %q", i, got, key)
				}
				if r.body != requests[0].body {
					t.Errorf("request %d has another body", i)
				}
			}
		})
	}
}

func TestEveryWriteHasAKeyOfItsOwn(t *testing.T) {
	h := newFakeHub(t, says(201, post201))
	c := h.client(t, nil)
	keys := map[string]bool{}
	for range 50 {
		if _, err := postOne(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range h.requests() {
		keys[r.header.Get("Idempotency-Key")] = true
	}
	if len(keys) != 50 {
		t.Errorf("%d keys for 50 writes", len(keys))
	}
}

func TestTheCallersKeyIsUsed(t *testing.T) {
	h := newFakeHub(t, says(201, post201))
	ctx := hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "req-1"}})
	if _, err := postOne(ctx, h.client(t, nil)); err != nil {
		t.Fatal(err)
	}
	if got := h.requests()[0].header.Get("Idempotency-Key"); got != "req-1" {
		t.Errorf("key = %q, want the caller's", got)
	}
}

func TestAWriteThatKeepsBreakingOffIsOfUnknownOutcome(t *testing.T) {
	h := newFakeHub(t, halves)
	_, err := postOne(t.Context(), h.client(t, nil))
	got := hubError(t, err, hub.CodeBrokeOff)
	key := h.requests()[0].header.Get("Idempotency-Key")
	if got.Status != 0 || got.Detail["outcome"] != "unknown" || got.Detail["idempotency_key"] != key {
		t.Errorf("error = %+v, want status 0 and the key %q", got, key)
	}
	if n := len(h.requests()); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
}

func TestAWriteWhoseHubDiedIsOfUnknownOutcome(t *testing.T) {
	var h *fakeHub
	h = newFakeHub(t, func(w http.ResponseWriter, r *http.Request) {
		h.Listener.Close()
		halves(w, r)
	})
	_, err := postOne(t.Context(), h.client(t, nil))
	if got := hubError(t, err, hub.CodeUnreachable); got.Detail["outcome"] != "unknown" {
		t.Errorf("detail = %v, want outcome unknown", got.Detail)
	}
}

func TestAReadIsSentTwiceAtMost(t *testing.T) {
	h := newFakeHub(t, halves, says(200, `{"ok":true,"result":[]}`))
	if _, _, err := h.client(t, nil).Channels(t.Context(), hub.ChannelsQuery{}); err != nil {
		t.Fatalf("after one break: %v", err)
	}
	if key := h.requests()[0].header.Get("Idempotency-Key"); key != "" {
		t.Errorf("a read carries the key %q", key)
	}
	h = newFakeHub(t, halves)
	_, _, err := h.client(t, nil).Channels(t.Context(), hub.ChannelsQuery{})
	if got := hubError(t, err, hub.CodeBrokeOff); got.Detail != nil {
		t.Errorf("detail = %v; a read has no outcome", got.Detail)
	}
	if n := len(h.requests()); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
}

// TestPausesBetweenAttempts checks in virtual time what is tried again, how often
// and after which pause.
func TestPausesBetweenAttempts(t *testing.T) {
	failure := func(status int, code hub.Code) string {
		return fmt.Sprintf(`{"ok":false,"error":"no","code":%q,"status":%d}`, code, status)
	}
	for _, tt := range []struct {
		name       string
		status     int
		code       hub.Code
		retryAfter string
		attempts   int
		took       time.Duration
	}{
		{"in progress", 409, hub.CodeInProgress, "", 3, 300 * time.Millisecond},
		{"in progress with advice", 409, hub.CodeInProgress, "1", 3, 2 * time.Second},
		{"overloaded", 503, hub.CodeOverloaded, "2", 3, 4 * time.Second},
		{"overloaded without advice", 503, hub.CodeOverloaded, "", 1, 0},
		{"overloaded for long", 503, hub.CodeOverloaded, "60", 1, 0},
		{"stopping", 503, hub.CodeStopping, "1", 1, 0},
		{"full", 507, hub.CodeStorageFull, "1", 1, 0},
		{"conflict", 409, hub.CodeVersionConflict, "1", 1, 0},
		{"bad advice", 503, hub.CodeOverloaded, "soon", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				c := client.New(client.Config{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
					attempts++
					var headers []string
					if tt.retryAfter != "" {
						headers = append(headers, "Retry-After: "+tt.retryAfter)
					}
					return response(tt.status, failure(tt.status, tt.code), headers...), nil
				})})
				began := time.Now()
				_, err := postOne(t.Context(), c)
				hubError(t, err, tt.code)
				if took := time.Since(began); attempts != tt.attempts || took != tt.took {
					t.Errorf("%d attempts in %s, want %d in %s", attempts, took, tt.attempts, tt.took)
				}
			})
		})
	}
}

// TestReadTimeout: an attempt that waits has its wait and five seconds, another
// one the configured timeout. A timeout is never followed by another attempt.
func TestReadTimeout(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(context.Context, *client.Client) error
		took time.Duration
	}{
		{"poll", func(ctx context.Context, c *client.Client) error {
			_, err := c.Events(ctx, hub.EventsQuery{Agent: "a", Wait: 30 * time.Second})
			return err
		}, 35 * time.Second},
		{"poll beyond the hub's longest", func(ctx context.Context, c *client.Client) error {
			_, err := c.Events(ctx, hub.EventsQuery{Agent: "a", Wait: time.Hour})
			return err
		}, 65 * time.Second},
		{"listing that waits", func(ctx context.Context, c *client.Client) error {
			_, err := c.Messages(ctx, hub.MessagesQuery{Channel: "x", Wait: 2 * time.Second})
			return err
		}, 7 * time.Second},
		{"claim in line", func(ctx context.Context, c *client.Client) error {
			_, err := c.Claim(ctx, hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", WaitSec: 10})
			return err
		}, 15 * time.Second},
		{"lock in line", func(ctx context.Context, c *client.Client) error {
			_, err := c.Lock(ctx, hub.LockInput{AgentID: "a", FilePath: "f", WaitSec: 0.5})
			return err
		}, 5500 * time.Millisecond},
		{"post", func(ctx context.Context, c *client.Client) error { _, err := postOne(ctx, c); return err }, 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client.New(client.Config{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})})
				began := time.Now()
				hubError(t, tt.call(t.Context(), c), hub.CodeNoAnswer)
				if took := time.Since(began); took != tt.took {
					t.Errorf("gave up after %s, want %s", took, tt.took)
				}
			})
		})
	}
}

func TestAnEndedContextReturnsItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := client.New(client.Config{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			cancel(reason)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		if _, err := postOne(ctx, c); !errors.Is(err, reason) {
			t.Errorf("err = %v, want the cause", err)
		}
	})
}

func TestWhatIsNoHub(t *testing.T) {
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>")
	}
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }
	banner := func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.2\r\n")
			conn.Close()
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a web page":      html,
		"a redirect":      redirect,
		"other JSON":      says(200, `{"status":"UP"}`),
		"a JSON list":     says(200, `[1]`),
		"broken JSON":     says(200, `{"ok":tr`),
		"an empty answer": says(200, ``),
		"another shape":   says(200, `{"ok":true,"result":"x"}`),
		"no HTTP":         banner,
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, answer)
			_, _, err := h.client(t, nil).Channels(t.Context(), hub.ChannelsQuery{})
			if got := hubError(t, err, hub.CodeNotAHub); got.Fix == "" || !strings.Contains(got.Message, h.URL) {
				t.Errorf("error = %+v, want the address and a fix", got)
			}
			if n := len(h.requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// TestAConnectionThatIsClosedAtOnce breaks off, whatever net/http says of it: it
// may be a hub that is stopping.
func TestAConnectionThatIsClosedAtOnce(t *testing.T) {
	base := silentlyCloses(t)
	for range 50 {
		c := client.New(client.Config{BaseURL: base})
		_, _, err := c.Channels(t.Context(), hub.ChannelsQuery{})
		hubError(t, err, hub.CodeBrokeOff)
		c.Close()
	}
}

func TestNoHub(t *testing.T) {
	port, err := testport.Take()
	require.NoError(t, err)
	_, err = postOne(t.Context(), client.New(client.Config{BaseURL: fmt.Sprintf("http://127.0.0.1:%d", port)}))
	got := hubError(t, err, hub.CodeUnreachable)
	if got.Status != 0 || got.Detail != nil || got.Fix != fmt.Sprintf("start one with: hubcli ensure --port %d", port) {
		t.Errorf("error = %+v", got)
	}
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{
		"127.0.0.1:6969", "ftp://x", "http://", "http://u:p@h", "http://h?x=1", "http://h#f", "http://h:port", "", "http://[::1",
	} {
		if err := client.CheckBaseURL(bad); err == nil {
			t.Errorf("%q is taken for an address", bad)
		}
		if bad == "" {
			continue // means the default
		}
		_, _, err := client.New(client.Config{BaseURL: bad}).Channels(t.Context(), hub.ChannelsQuery{})
		hubError(t, err, hub.CodeInvalid)
	}
	for given, want := range map[string]string{
		"":                       client.DefaultBaseURL,
		"http://localhost:1/":    "http://localhost:1",
		"https://hub.example/v/": "https://hub.example/v",
		"http://[::1]:7001":      "http://[::1]:7001",
	} {
		if got := client.New(client.Config{BaseURL: given}).BaseURL(); got != want {
			t.Errorf("BaseURL(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestLocal(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:1": true, "http://127.9.9.9": true, "http://[::1]:1": true, "http://LOCALHOST:1": true,
		"http://127.0.0.1.example": false, "http://localhost.example": false, "http://0.0.0.0:1": false, "http://10.0.0.1": false,
	} {
		if got := client.New(client.Config{BaseURL: base}).Local(); got != want {
			t.Errorf("Local(%s) = %v, want %v", base, got, want)
		}
	}
}
