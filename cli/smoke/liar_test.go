package smoke_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/cli/smoke"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

// A test that cannot fail proves nothing: here a real hub is made to lie, and the
// step that is there for it must notice.

type object = map[string]any

// exchange is a call and its answer on the way back through the proxy.
type exchange struct {
	r      *http.Request
	in     object // the body of the call
	status int
	out    object // the envelope
	memory *memory
}

// memory is what the proxy of one hub remembers. Its own lock covers each lie.
type memory struct {
	sync.Mutex
	rows map[string]any
}

// is reports whether the call is this one; a path that ends in / is a beginning.
func (e *exchange) is(method, path string) bool {
	p := e.r.URL.Path
	return e.r.Method == method && (p == path || strings.HasSuffix(path, "/") && strings.HasPrefix(p, path))
}

// of reports whether the call names this agent in its query.
func (e *exchange) of(agent hub.AgentID) bool {
	return e.r.URL.Query().Get("agent_id") == string(agent)
}

// row is the result if it is one.
func (e *exchange) row() object { row, _ := e.out["result"].(object); return row }

// rows are the result if it is a list.
func (e *exchange) rows() []any { rows, _ := e.out["result"].([]any); return rows }

// word is what a message says in its note.
func word(row any) string {
	metadata, _ := row.(object)["metadata"].(object)
	note, _ := metadata["smoke"].(object)
	s, _ := note["word"].(string)
	return s
}

func number(row any, name string) float64 { n, _ := row.(object)[name].(float64); return n }

// answer replaces the answer.
func (e *exchange) answer(status int, result any) {
	e.status, e.out = status, object{"ok": true, "result": result}
}

// drop leaves rows out of a list.
func (e *exchange) drop(gone func(row any) bool) {
	e.out["result"] = slices.DeleteFunc(e.rows(), gone)
}

// liar is a hub that keeps all of the contract but one thing.
type liar struct {
	name string
	step string                // that must notice
	late bool                  // noticed by a wait that times out
	ask  func(r *http.Request) // changes a call before the hub sees it; may be nil
	lie  func(e *exchange)     // changes an answer; may be nil
}

func sinceOf(e *exchange) float64 {
	n, _ := json.Number(e.r.URL.Query().Get("since_id")).Float64()
	return n
}

// change rewrites the body of a call to path.
func change(r *http.Request, path string, rewrite func(in object)) {
	if r.URL.Path != path || r.Body == nil {
		return
	}
	data, _ := io.ReadAll(r.Body)
	var in object
	if json.Unmarshal(data, &in) == nil {
		rewrite(in)
		data, _ = json.Marshal(in)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
}

type inKey struct{}

// lying puts a proxy in front of a hub.
func lying(t *testing.T, base string, ask func(*http.Request), lie func(*exchange)) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	mem := &memory{rows: map[string]any{}}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if ask != nil {
				ask(r.Out)
			}
			if r.Out.Body != nil {
				data, _ := io.ReadAll(r.Out.Body)
				r.Out.Body = io.NopCloser(bytes.NewReader(data))
				in := object{}
				_ = json.Unmarshal(data, &in)
				r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), inKey{}, in))
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			data, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			e := &exchange{r: resp.Request, status: resp.StatusCode, memory: mem}
			e.in, _ = resp.Request.Context().Value(inKey{}).(object)
			if lie != nil && json.Unmarshal(data, &e.out) == nil {
				mem.Lock()
				lie(e)
				data, err = json.Marshal(e.out)
				mem.Unlock()
			}
			resp.StatusCode, resp.Body, resp.ContentLength = e.status, io.NopCloser(bytes.NewReader(data)), int64(len(data))
			resp.Header.Del("Content-Length")
			return err
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
	return server.URL
}

// TestLiesAreNoticed: each lie by the step that is there for it, and by no other.
// All have one hub behind them: what a failed run leaves does not confuse the next.
func TestLiesAreNoticed(t *testing.T) {
	h := testhub.Start(t)
	for _, liar := range liars {
		t.Run(liar.name, func(t *testing.T) {
			progresses(t, h)
			url := lying(t, h.URL, liar.ask, liar.lie)
			noticed, timeout := false, patience
			if liar.late {
				timeout = 5 * time.Second
			}
			for _, e := range play(t, timeout, same(url), smoke.Roles()...) {
				var f *smoke.Failure
				switch {
				case e.err == nil || !errors.As(e.err, &f):
					if e.err != nil {
						t.Errorf("%s: %v", e.role, e.err)
					}
				case strings.Contains(f.Why, "another role has failed"):
				case f.Step == liar.step && (liar.late || !strings.HasPrefix(f.Why, "waited")): // a role that timed out has noticed nothing
					noticed = true
					t.Log(f)
				case !strings.HasPrefix(f.Why, "waited"):
					t.Errorf("another step than %s noticed: %v", liar.step, f)
				}
			}
			if !noticed {
				t.Errorf("step %s has not noticed", liar.step)
			}
		})
	}
	succeeds(t, play(t, patience, same(h.URL), smoke.Roles()...))
}

// progresses shows that the roles get on. Runs that end early are but direct messages,
// which the hub takes for a loop after a few.
func progresses(t *testing.T, h *testhub.Hub) {
	t.Helper()
	lease := hub.ClaimInput{OwnerAgentID: smoke.RoleA, ClaimKey: "between-runs", TTLSec: 60}
	if _, err := h.Hub.Claim(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Hub.ReleaseClaim(t.Context(), hub.ClaimHoldInput{OwnerAgentID: lease.OwnerAgentID, ClaimKey: lease.ClaimKey}); err != nil {
		t.Fatal(err)
	}
}

// TestHonestProxy: without a lie the proxy changes nothing.
func TestHonestProxy(t *testing.T) {
	succeeds(t, play(t, patience, same(lying(t, testhub.Start(t).URL, nil, func(*exchange) {})), smoke.Roles()...))
}

// TestEveryStepHasALiar: no step is left without proof that it can fail.
func TestEveryStepHasALiar(t *testing.T) {
	for _, step := range smoke.Steps() {
		if !slices.ContainsFunc(liars, func(l liar) bool { return l.step == step }) {
			t.Errorf("no lie for step %s", step)
		}
	}
}

// TestMissingFeaturesAreSkipped: a hub that says that it lacks something is not
// held to it.
func TestMissingFeaturesAreSkipped(t *testing.T) {
	url := lying(t, testhub.Start(t).URL, nil, func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["features"] = []any{}
		}
	})
	for _, e := range play(t, patience, same(url), smoke.Roles()...) {
		if e.err != nil || !strings.Contains(e.out, "11 rollup: skipped: the hub does not list subtask_rollup") ||
			!strings.Contains(e.out, "10 task: skipped: the hub does not list rpc_kinds") || !strings.Contains(e.out, "ok: 14 steps (2 skipped), ") {
			t.Errorf("%s: %v\n%s", e.role, e.err, e.out)
		}
	}
}
